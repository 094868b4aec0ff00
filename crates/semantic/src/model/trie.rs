//! Builds the tree of all pieces of the vocabulary, laid out in breadth-first order: the children of a
//! node stand side by side, sorted by their byte. Looking pieces up is the vocabulary's.

use std::ops::Range;

/// The tree. Node 0 is the root.
pub(super) struct Trie {
    /// Where each node's children begin. One more entry ends the last node's.
    pub(super) first: Vec<u32>,
    /// The byte that leads to each node.
    pub(super) label: Vec<u8>,
    /// The piece that ends at each node, 0 for none: piece 0 is the unknown one and never in the tree.
    pub(super) piece: Vec<u32>,
}

/// Builds the tree of these texts with their pieces. Of equal texts the last one counts.
pub(super) fn build(mut texts: Vec<(&[u8], u32)>) -> Result<Trie, &'static str> {
    texts.sort_unstable();
    let mut trie = Trie { first: Vec::new(), label: vec![0], piece: vec![0] };
    // Each node of one depth as its range of the sorted texts.
    let mut nodes = Vec::from([Range { start: 0, end: texts.len() }]);
    let mut depth = 0;
    while !nodes.is_empty() {
        let mut below = Vec::new();
        for node in nodes {
            trie.first.push(number(trie.label.len())?);
            let mut at = node.start;
            while at < node.end {
                let Some(byte) = texts[at].0.get(depth).copied() else {
                    at += 1;
                    continue;
                };
                let same = texts[at..node.end].partition_point(|(text, _)| text[depth] <= byte);
                let whole =
                    texts[at..at + same].iter().take_while(|(text, _)| text.len() == depth + 1).last();
                trie.label.push(byte);
                trie.piece.push(whole.map_or(0, |(_, piece)| *piece));
                below.push(at..at + same);
                at += same;
            }
        }
        nodes = below;
        depth += 1;
    }
    trie.first.push(number(trie.label.len())?);
    Ok(trie)
}

fn number(index: usize) -> Result<u32, &'static str> {
    u32::try_from(index).map_err(|_| "its vocabulary is too large")
}
