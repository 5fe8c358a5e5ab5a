//! Wrong flows and every word that is said about them.

#[test]
fn wrong_flows_are_explained() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, source) in crate::flows(&here.join("tests/bad_flows")) {
        let said = crate::messages(&name, &source);
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.as_str(), said);
        });
    }
}
