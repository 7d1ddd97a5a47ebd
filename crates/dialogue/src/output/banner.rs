//! The banner of Windows' command line, in any language.

/// The name of the company where it is not written in Latin letters.
const COMPANY: [&str; 4] = ["microsoft", "майкрософт", "微软", "微軟"];

/// Whether a line is part of the banner: it names the version, or who owns the rights.
pub(super) fn is_part(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("Microsoft Windows [") || (is_copyright(line) && names_company(line))
}

fn is_copyright(line: &str) -> bool {
    ["(c)", "(C)", "©"].iter().any(|sign| line.starts_with(sign))
}

fn names_company(line: &str) -> bool {
    let line = line.to_lowercase();
    COMPANY.iter().any(|name| line.contains(name))
}
