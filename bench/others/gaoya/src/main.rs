//! Lists near-duplicate pairs by the Rust library gaoya as its own documentation shows:
//! MinHash of 128, 32 bits each, bands by `calculate_minhash_params` (a recall of 0.99), all
//! added, then every document queried; its answers are checked by the estimate of the signatures.
//! Reading, signatures, the index's bands and the queries use all processors.
//!
//!     gaoya-pairs CORPUS.jsonl PAIRS.csv THRESHOLD [WORDS]
//!
//! WORDS is the length of a shingle (5).

use gaoya::minhash::{calculate_minhash_params, MinHashIndex, MinHasher, MinHasher32};
use rayon::prelude::*;
use serde::Deserialize;
use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write};

const HASHES: usize = 128;

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The shingles of so many words of a text, lower-cased and joined by single spaces; a text of fewer
/// words is one shingle, a text without words has none.
fn signature(hasher: &impl MinHasher<V = u32>, text: &str, words: usize) -> Option<Vec<u32>> {
    let lower = text.to_lowercase();
    let mut joined = String::with_capacity(lower.len() + 1);
    let mut edges = Vec::with_capacity(lower.len() / 4);
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let start = joined.len();
        joined.push_str(word);
        edges.push((start, joined.len()));
        joined.push(' ');
    }
    if edges.is_empty() {
        return None;
    }
    let words = words.min(edges.len());
    let shingles = edges.windows(words).map(|run| &joined[run[0].0..run[words - 1].1]);
    Some(hasher.create_signature(shingles))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() < 4 {
        return Err("usage: gaoya-pairs CORPUS.jsonl PAIRS.csv THRESHOLD [WORDS]".into());
    }
    let threshold: f64 = arguments[3].parse()?;
    let words: usize = arguments.get(4).map_or(Ok(5), |n| n.parse())?;
    let (bands, rows) = calculate_minhash_params(threshold, HASHES);
    let hasher = MinHasher32::new(bands * rows);

    let corpus = fs::read(&arguments[1])?;
    let lines: Vec<&[u8]> = corpus.split(|&c| c == b'\n').filter(|line| !line.is_empty()).collect();
    let sketched = lines
        .par_iter()
        .map(|line| {
            let document: Document = serde_json::from_slice(line)?;
            Ok((document.id.into_owned(), signature(&hasher, &document.text, words)))
        })
        .collect::<Result<Vec<_>, serde_json::Error>>()?;
    let (ids, signatures): (Vec<String>, Vec<_>) = sketched.into_iter().unzip();
    let (numbers, signatures): (Vec<u32>, Vec<Vec<u32>>) =
        (0..).zip(signatures).filter_map(|(number, signature)| Some((number, signature?))).unzip();

    let mut index: MinHashIndex<u32, u32> = MinHashIndex::new(bands, rows, threshold);
    index.par_bulk_insert(numbers.clone(), signatures.clone());
    let found = index.par_bulk_query(&signatures);

    let mut out = BufWriter::new(fs::File::create(&arguments[2])?);
    writeln!(out, "a,b")?;
    for (number, others) in numbers.iter().zip(&found) {
        for other in others.iter().filter(|&other| other < number) {
            writeln!(out, "{},{}", ids[*other as usize], ids[*number as usize])?;
        }
    }
    out.flush()?;
    // What is left is freed with the process: gaoya's program would wait for its tables otherwise.
    std::process::exit(0)
}
