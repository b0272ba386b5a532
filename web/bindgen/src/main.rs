//! Makes the JavaScript side of a module: `visakit-web-bindgen MODULE.wasm FOLDER`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = arguments.as_slice() else {
        return Err("usage: visakit-web-bindgen MODULE.wasm FOLDER".into());
    };
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(module)
        .web(true)?
        .typescript(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder)?;
    Ok(())
}
