use super::*;

fn flow(name: &str, path: &str) -> Vec<u8> {
    format!(
        "name: {name}\non:\n  webhook: {{path: {path}, verify: none}}\nkey: k/${{{{ event.id }}}}\n\
         steps:\n  - id: a\n    set: {{x: 1}}\n"
    )
    .into_bytes()
}

fn codes(file: &FlowFile) -> Vec<&str> {
    let errors = file.found.iter().filter(|it| it.level == Level::Error);
    errors.map(|found| found.code).collect()
}

#[test]
fn names_and_paths_are_unique_among_files() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| std::fs::write(dir.path().join(name), content);
    write("a.yaml", &flow("one", "/hooks/one")).unwrap();
    write("b.yml", &flow("two", "/hooks/one")).unwrap();
    write("c.yaml", &flow("one", "/hooks/three")).unwrap();
    write(".d.yaml", b"half written").unwrap();
    write("e.txt", b"no flow").unwrap();
    std::fs::create_dir(dir.path().join("f.yaml")).unwrap();
    let files = read(&[dir.path().to_owned()]).unwrap();
    let found: Vec<_> = files.iter().map(codes).collect();
    assert_eq!(found, [&[][..], &["F023"], &["F022"]]);
    let label = &files[1]
        .found
        .iter()
        .find(|it| it.code == "F023")
        .unwrap()
        .label;
    assert!(label.contains("a.yaml:3:19"), "{label}");
}

#[test]
fn a_file_is_read_once_however_often_it_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.yaml");
    std::fs::write(&path, flow("one", "/hooks/one")).unwrap();
    let files = read(&[path.clone(), dir.path().to_owned(), path]).unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(codes(&files[0]), [""; 0]);
}

#[test]
fn what_is_not_text_is_told_with_its_place() {
    let file = FlowFile::new("x.yaml".into(), b"name: a\n# caf\xe9\nsteps: []\n".to_vec());
    assert_eq!(codes(&file), ["F001"]);
    let drawn = file.drawn(false);
    assert!(drawn.contains("x.yaml:2:6"), "{drawn}");
    assert!(drawn.contains("byte 14 cannot be read"), "{drawn}");
}

#[test]
fn an_empty_folder_and_a_missing_file_are_wrong_usage() {
    let dir = tempfile::tempdir().unwrap();
    for (name, says) in [
        (dir.path().to_owned(), "no flow file in the folder"),
        (dir.path().join("no.yaml"), "No such file"),
    ] {
        let error = read(&[name]).unwrap_err();
        assert_eq!(crate::failure::exit_of(&error), crate::failure::Exit::Usage);
        assert!(error.to_string().contains(says), "{error}");
    }
}
