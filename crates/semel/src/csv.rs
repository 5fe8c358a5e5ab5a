//! Comma-separated values as in RFC 4180: quoted fields, doubled quotes, line breaks inside them.

/// One record and the line it starts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) line: usize,
    pub(crate) fields: Vec<String>,
}

/// Reads all records; empty lines are passed over.
///
/// # Errors
/// The line and what is wrong with its quotes: what follows cannot be told apart any more.
pub(crate) fn read(text: &str) -> Result<Vec<Record>, (usize, &'static str)> {
    let mut reader = Reader {
        rest: text.trim_start_matches('\u{feff}'),
        line: 1,
    };
    let mut records = Vec::new();
    while !reader.rest.is_empty() {
        let line = reader.line;
        let fields = reader.record()?;
        if fields != [""] {
            records.push(Record { line, fields });
        }
    }
    Ok(records)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl Reader<'_> {
    fn record(&mut self) -> Result<Vec<String>, (usize, &'static str)> {
        let mut fields = Vec::new();
        loop {
            fields.push(if self.rest.starts_with('"') {
                self.quoted()?
            } else {
                self.plain()?
            });
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
                continue;
            }
            self.rest = self.rest.strip_prefix('\r').unwrap_or(self.rest);
            self.rest = self.rest.strip_prefix('\n').unwrap_or(self.rest);
            self.line += 1;
            return Ok(fields);
        }
    }

    fn plain(&mut self) -> Result<String, (usize, &'static str)> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        let field = match rest.starts_with(',') {
            true => field,
            false => field.strip_suffix('\r').unwrap_or(field),
        };
        if field.contains('"') {
            return Err((
                self.line,
                "has a quote inside a field that does not begin with one",
            ));
        }
        self.rest = rest;
        Ok(field.to_owned())
    }

    fn quoted(&mut self) -> Result<String, (usize, &'static str)> {
        let start = self.line;
        let mut field = String::new();
        self.rest = &self.rest[1..];
        loop {
            let Some(end) = self.rest.find('"') else {
                return Err((start, "has a quote that is never closed"));
            };
            field.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            let Some(rest) = self.rest.strip_prefix('"') else {
                break;
            };
            field.push('"');
            self.rest = rest;
        }
        self.line += field.matches('\n').count();
        if !self.rest.is_empty() && !self.rest.starts_with([',', '\r', '\n']) {
            return Err((self.line, "has text after a closing quote"));
        }
        Ok(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_know_their_lines() {
        let text = "\u{feff}a,b\r\n\"x, \"\"y\"\"\n2\",z\n\n,\"\"\nlast";
        let records = read(text).unwrap();
        let expect: [(usize, &[&str]); 4] = [
            (1, &["a", "b"]),
            (2, &["x, \"y\"\n2", "z"]),
            (5, &["", ""]),
            (6, &["last"]),
        ];
        assert_eq!(records.len(), expect.len());
        for (record, (line, fields)) in records.iter().zip(expect) {
            assert_eq!(
                (record.line, &record.fields[..]),
                (line, &fields.map_owned()[..])
            );
        }
    }

    trait MapOwned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl MapOwned for &[&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|field| (*field).to_owned()).collect()
        }
    }

    #[test]
    fn wrong_quotes_are_told_with_their_line() {
        for (text, line) in [("a\n\"b", 2), ("a\"b", 1), ("\"a\"b", 1), ("\"a\n\"b", 2)] {
            assert_eq!(read(text).expect_err(text).0, line, "{text}");
        }
    }
}
