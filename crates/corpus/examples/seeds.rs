//! Packs inputs of a fuzz target into one file, and unpacks them: `seeds pack FOLDER FILE`, `seeds unpack FILE FOLDER`.
//!
//! The file is compressed, and has one input per line as JSON: `[flags, "the rest, as text"]`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["pack", folder, file] => pack(Path::new(folder), Path::new(file)),
        ["unpack", file, folder] => unpack(Path::new(file), Path::new(folder)),
        _ => Err("usage: seeds pack FOLDER FILE | seeds unpack FILE FOLDER".into()),
    }
}

fn pack(folder: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut inputs = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        if let Some((flags, rest)) = std::fs::read(entry?.path())?.split_first() {
            inputs.insert((*flags, String::from_utf8_lossy(rest).into_owned()));
        }
    }
    let mut out = GzEncoder::new(File::create(file)?, Compression::best());
    for input in inputs {
        writeln!(out, "{}", serde_json::to_string(&input)?)?;
    }
    out.finish()?;
    Ok(())
}

fn unpack(file: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    GzDecoder::new(File::open(file)?).read_to_string(&mut text)?;
    std::fs::create_dir_all(folder)?;
    for (at, line) in text.lines().enumerate() {
        let (flags, rest): (u8, String) = serde_json::from_str(line)?;
        std::fs::write(folder.join(format!("seed-{at}")), [&[flags], rest.as_bytes()].concat())?;
    }
    Ok(())
}
