//! Rebuilds when a package changes: the packages in `extensions/` are part of the binary.

fn main() {
    println!("cargo:rerun-if-changed=extensions");
}
