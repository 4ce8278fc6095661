//! Builds the crate again when the dashboard's files appear, change or go.

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
}
