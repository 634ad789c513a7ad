//! The verb `fine-tune`.

use super::saved::{of_images, working};
use crate::cli::FineTune;
use bcl_backend::Backend;
use bcl_files::{notice, printable, refuse_overwriting};
use bcl_report::{Column, Table, TextStyle};
use bcl_train::{
    error::Error,
    kinds::{
        Saved,
        images::{self, FINE_TUNED_MODEL, FINE_TUNING_RECORD, FineTuneOptions, FineTuning},
    },
};

/// Checks the folder of `fine-tune` before anything is opened.
///
/// # Errors
/// Returns an error if a file in it must not be overwritten.
pub(crate) fn check_fine_tune(args: &FineTune) -> Result<(), Error> {
    let out = args.folder();
    refuse_overwriting("--out", &out.join(FINE_TUNED_MODEL), &["safetensors"])?;
    Ok(refuse_overwriting("--out", &out.join(FINE_TUNING_RECORD), &["json"])?)
}

/// Fine-tunes the image encoder of a run on a fraction of the labels, writes the weights and prints how they compare.
///
/// # Errors
/// Returns an error if the run or its data cannot be read, it has no encoder of images or no labels, or a file cannot be written.
pub(crate) fn fine_tune(args: &FineTune, backend: &Backend) -> Result<(), Error> {
    check_fine_tune(args)?;
    let _working = working("fine-tuning", &args.run);
    let run = of_images(Saved::open(&args.run, args.compute.data.as_deref())?, "fine-tune")?;
    let options = FineTuneOptions {
        fraction: args.fraction,
        epochs: args.epochs as usize,
        batch_size: args.batch_size as usize,
        learning_rate: args.peak_rate(),
        seed: args.seed,
        from_scratch: args.from_scratch,
    };
    let out = args.folder();
    let record = images::fine_tune(run, backend, &options, &out)?;
    if args.output.json {
        print!("{}", record.to_json());
    } else {
        print(&record);
    }
    notice::status(printable(out.join(FINE_TUNED_MODEL).display()));
    Ok(())
}

fn print(record: &FineTuning) {
    println!(
        "{} on {} labels ({} %) of {}: accuracy on {} test images",
        record.name,
        record.labels,
        (record.fraction * 1e8).round() / 1e6,
        printable(&record.data),
        record.test_images
    );
    let has_top5 = record.rows.iter().any(|row| row.accuracy.top5.is_some());
    let titles = [Some("top-1"), has_top5.then_some("top-5"), Some("seconds")];
    let columns = std::iter::once(Column::text("")).chain(titles.into_iter().flatten().map(Column::number));
    let rows = record.rows.iter().map(|row| {
        let top5 = row.accuracy.top5.map(|top5| format!("{top5:.4}"));
        let figures = [
            Some(format!("{:.4}", row.accuracy.top1)),
            top5,
            Some(format!("{:.1}", row.seconds)),
        ];
        std::iter::once(row.about.to_owned())
            .chain(figures.into_iter().flatten())
            .collect::<Vec<_>>()
    });
    print!("{}", Table::new(columns, rows).render(&TextStyle::of_stdout()));
}
