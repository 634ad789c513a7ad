//! Weights under torchvision's names and in its shapes, for ResNets of depth 18, 34 and 50 at 224 pixels. The names and shapes come from the definition of
//! torchvision's networks, not from our code; the values are drawn here.

use serde_json::{Map, Value, json};
use std::{fs, path::Path};
use whole_program_tests::{
    assert_refused, bcl_train,
    pictures::{jpeg, write},
    shown,
};

/// The arrays of a network with their shapes, in torchvision's order.
fn arrays(depth: u32) -> Vec<(String, Vec<usize>)> {
    let blocks = match depth {
        18 => [2, 2, 2, 2],
        _ => [3, 4, 6, 3],
    };
    let expansion = if depth == 50 { 4 } else { 1 };
    let mut arrays = vec![("conv1.weight".to_owned(), vec![64, 3, 7, 7])];
    norm(&mut arrays, "bn1", 64);
    let mut channels = 64;
    for (stage, count) in blocks.into_iter().enumerate() {
        let planes = 64 << stage;
        for block in 0..count {
            let name = format!("layer{}.{block}", stage + 1);
            let convolutions: &[(usize, usize, usize)] = &if depth == 50 {
                vec![(channels, planes, 1), (planes, planes, 3), (planes, planes * 4, 1)]
            } else {
                vec![(channels, planes, 3), (planes, planes, 3)]
            };
            for (index, &(from, to, side)) in (1..).zip(convolutions) {
                arrays.push((format!("{name}.conv{index}.weight"), vec![to, from, side, side]));
                norm(&mut arrays, &format!("{name}.bn{index}"), to);
            }
            if block == 0 && channels != planes * expansion {
                arrays.push((
                    format!("{name}.downsample.0.weight"),
                    vec![planes * expansion, channels, 1, 1],
                ));
                norm(&mut arrays, &format!("{name}.downsample.1"), planes * expansion);
            }
            channels = planes * expansion;
        }
    }
    arrays.push(("fc.weight".to_owned(), vec![1000, channels]));
    arrays.push(("fc.bias".to_owned(), vec![1000]));
    arrays
}

fn norm(arrays: &mut Vec<(String, Vec<usize>)>, name: &str, channels: usize) {
    for of in ["weight", "bias", "running_mean", "running_var"] {
        arrays.push((format!("{name}.{of}"), vec![channels]));
    }
    arrays.push((format!("{name}.num_batches_tracked"), Vec::new()));
}

/// The values of an array: convolutions are scaled as by He, normalisations change nothing.
fn values(name: &str, shape: &[usize]) -> Vec<u8> {
    if name.ends_with("num_batches_tracked") {
        return 7_i64.to_le_bytes().to_vec();
    }
    let value: Box<dyn Fn(usize) -> f32> = if shape.len() > 1 {
        let scale = (2.0 / shape[1..].iter().product::<usize>() as f32).sqrt();
        Box::new(move |i| (i as f32 * 12.9898).sin() * scale * 1.4)
    } else {
        let is_one = name.ends_with("running_var") || name.ends_with("weight");
        Box::new(move |_| f32::from(u8::from(is_one)))
    };
    (0..shape.iter().product()).flat_map(|i| value(i).to_le_bytes()).collect()
}

/// A safetensors file: the length of the header, the header as JSON, the values.
fn write_weights(path: &Path, depth: u32) {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for (name, shape) in arrays(depth) {
        let start = data.len();
        data.extend(values(&name, &shape));
        let kind = if shape.is_empty() { "I64" } else { "F32" };
        header.insert(
            name,
            json!({ "dtype": kind, "shape": shape, "data_offsets": [start, data.len()] }),
        );
    }
    let mut header = Value::Object(header).to_string();
    // Integers of eight bytes must be aligned.
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat();
    fs::write(path, bytes).expect("writable");
}

fn recipe(depth: u32) -> String {
    format!(
        "name = \"pretrained\"\n\n[data]\nimages = \"pictures\"\n\n[views]\nside = 224\n\n[encoder]\nkind = \"resnet\"\n\
         trunk = {{ depth = {depth}, stem = \"imagenet\", width = 64 }}\nhead = {{ hidden = 16, out = 8 }}\nweights = \"weights.safetensors\"\n\n\
         [loss]\nkind = \"info_nce\"\ntemperature = 0.5\n\n[training]\nbatch_size = 2\nepochs = 0\n\n[evaluation]\nevery = 0\n"
    )
}

#[test]
fn weights_of_all_three_depths_are_loaded_at_224_pixels_and_trained_on() {
    // A step of the deeper networks takes seconds, and only their names and shapes differ.
    for (depth, epochs) in [(18, "1"), (34, "0"), (50, "0")] {
        let folder = tempfile::tempdir().expect("a folder");
        write(
            folder.path(),
            &(0..3).map(|seed| (format!("pictures/{seed}.jpg"), jpeg(seed))).collect(),
        );
        write_weights(&folder.path().join("weights.safetensors"), depth);
        fs::write(folder.path().join("pretrained.toml"), recipe(depth)).expect("writable");
        let mut program = bcl_train();
        let output = program
            .current_dir(folder.path())
            .args(["pretrained.toml", "--epochs", epochs, "--out", "runs"])
            .output()
            .expect("it starts");
        assert!(output.status.success(), "depth {depth}: {}", shown(&output));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("weights.safetensors") && said.contains("fc"),
            "depth {depth}: {said}"
        );
        assert!(folder.path().join("runs/pretrained-0/result.json").is_file());
    }
}

#[test]
fn a_file_of_another_depth_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        &(0..3).map(|seed| (format!("pictures/{seed}.jpg"), jpeg(seed))).collect(),
    );
    write_weights(&folder.path().join("weights.safetensors"), 18);
    fs::write(folder.path().join("pretrained.toml"), recipe(34)).expect("writable");
    let output = bcl_train()
        .current_dir(folder.path())
        .arg("pretrained.toml")
        .output()
        .expect("it starts");
    assert_refused(&output, &["weights.safetensors"]);
}
