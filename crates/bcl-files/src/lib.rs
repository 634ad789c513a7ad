//! Reads and writes files. Other crates use it; it knows none of them.
//!
//! | to | use |
//! | --- | --- |
//! | open a file from outside: regular files only, with limits | [`input`] |
//! | read the files of a folder, a zip or a tar archive | [`archive`] |
//! | write a file whole or not at all | [`write_whole`], [`write_json`], [`WholeFile`] |
//! | write a run's file with a checksum, and verify it when it is read | [`checksums`], [`seal`] |
//! | keep other processes out of a folder | [`FolderLock`] |
//! | finish a write before the process ends, or remove what is not complete | [`critical_section()`], [`remove_temporary_files`] |
//! | keep a flag such as `--out` from overwriting a run, or what is read | [`refuse_overwriting`], [`refuse_input`] |
//! | show sizes and durations | [`bytes()`], [`about`] |
//! | recognise a file that is not text | [`content`] |
//! | show text from files in a terminal | [`printable()`], [`printable_lines`] |
//! | name a path in a command that the user may paste | [`shell_quoted`] |
//! | warn the user, or tell what long work is doing | [`notice`] |
//! | write event files of TensorBoard and ONNX models | [`wire`] |

pub mod archive;
pub mod checksums;
pub mod content;
mod critical_section;
mod digest;
mod error;
pub mod input;
mod lock;
pub mod notice;
mod output;
mod own;
mod sealed;
mod stream;
mod temporary;
mod text;
mod units;
mod whole;
pub mod wire;

pub use critical_section::{CriticalSection, critical_section, finish_critical_sections};
pub use digest::{digest_of, hexadecimal, sha256, sha256_of_file};
pub use error::FileError;
pub use lock::FolderLock;
pub use output::refuse_full_output;
pub use own::{is_run_or_table, refuse_input, refuse_overwriting};
pub use sealed::{Seal, seal, unseal};
pub use stream::WholeFile;
pub use temporary::remove_temporary_files;
pub use text::{excerpt, printable, printable_lines, shell_quoted};
pub use units::{about, bytes};
pub use whole::{create_folder, remove_unfinished, write_json, write_whole};
