//! Bodies that were packed, unpacked within limits.
//!
//! Owns which content encodings are accepted. The invariant: a bomb costs no more than an honest
//! body. How much may come out is known before the first byte does.

use std::io::Read;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use crate::body::too_large;
use crate::code::Code;
use crate::problem::Problem;

/// How many times as large as it was sent an honest body gets. Text reaches 20, logs 100.
const MOST_RATIO: usize = 200;
/// A small body may be as repetitive as it likes.
const ALWAYS_FAIR: usize = 64 * 1024;
/// How much is unpacked at a time.
const PIECE: usize = 16 * 1024;

#[derive(Clone, Copy)]
enum Packing {
    Gzip,
    Deflate,
}

/// The body as it was before it was packed, `limit` bytes at the most.
pub(crate) fn decoded(bytes: Bytes, headers: &HeaderMap, limit: usize) -> Result<Bytes, Problem> {
    let mut given = headers.get_all(CONTENT_ENCODING).iter();
    let Some(encoding) = given.next() else {
        return Ok(bytes);
    };
    if given.next().is_some() {
        return Err(unsupported("more than one content encoding is"));
    }
    let encoding = encoding.to_str().unwrap_or_default().trim();
    match encoding.to_ascii_lowercase().as_str() {
        "identity" => Ok(bytes),
        "gzip" | "x-gzip" => unpacked(&bytes, Packing::Gzip, limit),
        "deflate" => unpacked(&bytes, Packing::Deflate, limit),
        _ => Err(unsupported(&format!(
            "the content encoding {encoding:?} is"
        ))),
    }
}

fn unsupported(what: &str) -> Problem {
    let detail = format!("{what} not accepted; gzip and deflate are");
    Problem::new(Code::EncodingUnsupported, detail)
        .field("Content-Encoding")
        .fix("send the body plain or with gzip")
}

fn unpacked(bytes: &[u8], packing: Packing, limit: usize) -> Result<Bytes, Problem> {
    let fair = bytes.len().saturating_mul(MOST_RATIO).max(ALWAYS_FAIR);
    let most = fair.min(limit);
    let mut out = Vec::new();
    let whole = match packing {
        Packing::Gzip => {
            let unpacking = MultiGzDecoder::new(bytes);
            let read = unpacking.take(most as u64 + 1).read_to_end(&mut out);
            read.is_ok()
        }
        Packing::Deflate => inflate(bytes, &mut out, most),
    };
    if out.len() > limit {
        return Err(too_large(limit));
    }
    if out.len() > most {
        let detail = format!("the body unpacks to more than {MOST_RATIO} times its size");
        return Err(Problem::new(Code::BodyTooLarge, detail).limit(most));
    }
    if whole {
        return Ok(out.into());
    }
    let name = match packing {
        Packing::Gzip => "gzip",
        Packing::Deflate => "deflate",
    };
    let detail = format!("the body is not whole, valid {name}");
    Err(Problem::new(Code::EncodingInvalid, detail)
        .field("Content-Encoding")
        .fix("leave the header out if the body is not compressed"))
}

/// Unpacks until there is more than `most`; true if all of it was there and nothing else was.
fn inflate(bytes: &[u8], out: &mut Vec<u8>, most: usize) -> bool {
    let mut inflate = Decompress::new(true);
    let mut rest = bytes;
    while out.len() <= most {
        out.reserve(PIECE);
        let before = inflate.total_in();
        let status = inflate.decompress_vec(rest, out, FlushDecompress::None);
        let taken = usize::try_from(inflate.total_in() - before).unwrap_or(rest.len());
        rest = &rest[taken..];
        match status {
            Ok(Status::Ok) => {}
            Ok(Status::StreamEnd) => return rest.is_empty(),
            Ok(Status::BufError) | Err(_) => return false,
        }
    }
    false
}
