//! What the page computes, run by an interpreter, compared with Rust.

use super::{
    Settings,
    checks::{Check, checks},
    page,
    page::WASM,
};
use wasmi::{Engine, ExternType, Instance, Linker, Module, Store, Val, ValType};

/// The WebAssembly of the page, run by an interpreter.
struct Explorer {
    store: Store<()>,
    instance: Instance,
}

impl Explorer {
    fn new() -> Self {
        let engine = Engine::default();
        let module = Module::new(&engine, WASM).expect("a valid module");
        assert_eq!(module.imports().count(), 0, "the page provides nothing");
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine)
            .instantiate_and_start(&mut store, &module)
            .expect("it starts without imports");
        Self { store, instance }
    }

    /// Calls a function with numbers of the types that it declares.
    fn call(&mut self, name: &str, arguments: &[f64]) -> f64 {
        let function = self.instance.get_func(&self.store, name).expect("an exported function");
        let parameters = function.ty(&self.store);
        let arguments: Vec<Val> = parameters
            .params()
            .iter()
            .zip(arguments)
            .map(|(parameter, &value)| match parameter {
                ValType::I32 => Val::I32(value as i32),
                _ => Val::F64(value.into()),
            })
            .collect();
        assert_eq!(arguments.len(), parameters.params().len(), "{name}");
        let mut results = [Val::F64(0.0.into())];
        function.call(&mut self.store, &arguments, &mut results).expect("no trap");
        results[0].f64().expect("an f64").into()
    }
}

#[test]
fn the_webassembly_computes_what_rust_does() {
    let mut explorer = Explorer::new();
    for Check {
        function,
        arguments,
        value,
    } in checks()
    {
        let computed = explorer.call(function, &arguments);
        assert!(
            (computed - value).abs() <= 1e-12 * value.abs().max(1.0),
            "{function}{arguments:?} is {computed} in WebAssembly and {value} in Rust: run `cargo xtask wasm`"
        );
    }
}

#[test]
fn every_exported_function_is_checked() {
    let engine = Engine::default();
    let module = Module::new(&engine, WASM).expect("a valid module");
    let exported = module
        .exports()
        .filter(|export| matches!(export.ty(), ExternType::Func(_)))
        .map(|export| export.name().to_owned());
    let checked: Vec<&str> = checks().iter().map(|check| check.function).collect();
    for name in exported {
        assert!(checked.contains(&name.as_str()), "{name} has no check");
    }
}

#[test]
fn parameters_out_of_range_are_not_a_number_and_do_not_end_the_page() {
    let mut explorer = Explorer::new();
    for arguments in [
        [0.4, 0.5, 0.1, 0.5],
        [0.9, 1.5, 0.1, 0.5],
        [0.9, 0.5, 1.0, 0.5],
        [1.0, 1.0, 0.1, 0.5],
    ] {
        assert!(explorer.call("omega", &arguments).is_nan(), "{arguments:?}");
    }
    for count in [0.0, 1.0] {
        explorer.call("negative_mass", &[0.9, 0.9, 0.1, count, 0.5, 0.1, 1.0]);
        explorer.call("effective_sample_size", &[0.9, 0.9, 0.1, count]);
    }
}

#[test]
fn the_page_requests_nothing() {
    let page = page(&Settings::default()).unwrap();
    assert_eq!(page.matches("class=\"chart\"").count(), 4);
    for request in ["src=\"http", "href=\"http", "url(", "@import", "fetch("] {
        assert!(!page.contains(request), "{request}");
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let with = |change: fn(&mut Settings)| {
        let mut settings = Settings::default();
        change(&mut settings);
        page(&settings).unwrap_err().to_string()
    };
    assert_eq!(with(|settings| settings.alpha = 0.3), "alpha is 0.3, but must be in [0.5, 1]");
    assert_eq!(
        with(|settings| settings.num_negatives = 0),
        "negatives is 0, but must be in [1, 4096]"
    );
    assert_eq!(
        with(|settings| settings.temperature = 3.0),
        "temperature is 3, but must be in [0.05, 2]"
    );
}
