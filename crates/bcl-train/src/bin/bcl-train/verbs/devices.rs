//! `devices`: the devices, and how to get the missing backends.

use bcl_backend::{DeviceInfo, DeviceKind, Inventory, Unavailable};
use bcl_report::{Column, Table, TextStyle};
use indicatif::HumanBytes;
use serde_json::json;
use std::fmt;

/// Prints the devices, and how to get the missing backends.
pub(crate) fn devices(inventory: &Inventory, json: bool) {
    if json {
        println!("{:#}", json!(inventory));
    } else {
        print!("{}", TextStyle::of_stdout().fitted(Listing(inventory)));
    }
}

/// Shows the inventory in the width of the terminal.
struct Listing<'a>(&'a Inventory);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(inventory) = self;
        let columns = ["backend", "device", "name", "memory", "precisions", "driver"].map(Column::text);
        Table::new(columns, inventory.devices.iter().map(cells)).fmt(f)?;
        if let Some(folder) = &inventory.kernel_cache {
            writeln!(f, "\nCompiled GPU kernels are kept in {}", folder.display())?;
        }
        let absent = |f: &mut fmt::Formatter<'_>, title: &str, list: &[Unavailable]| {
            if list.is_empty() {
                return Ok(());
            }
            writeln!(f, "\n{title}")?;
            let rows = list.iter().map(|absent| [absent.backend, &absent.remedy]);
            Table::new([Column::text(""), Column::verbatim("")], rows).fmt(f)
        };
        absent(f, "In this build, but not usable here:", &inventory.unusable)?;
        absent(
            f,
            "Not in this build; to add a backend, run its command:",
            &inventory.not_in_this_build,
        )
    }
}

fn cells(device: &DeviceInfo) -> [String; 6] {
    let name = match device.kind {
        DeviceKind::Software => format!("{} (a CPU that presents itself as a GPU)", device.name),
        _ => device.name.clone(),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        device.backend.to_owned(),
        device.index.to_string(),
        name,
        or_dash(device.memory_bytes.map(|bytes| HumanBytes(bytes).to_string())),
        device.precisions.join(" "),
        or_dash(device.driver.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_come_first_and_then_the_missing_backends() {
        let inventory = Inventory::read(|choice| format!("get {}", choice.name()));
        let text = Listing(&inventory).to_string();
        assert!(text.starts_with("backend  device  name"), "{text}");
        assert!(text.contains(&inventory.devices.last().unwrap().name), "{text}");
        for absent in &inventory.not_in_this_build {
            assert!(text.contains(&absent.remedy), "{text}");
        }
    }
}
