//! How large the parts of the network are, and in which order the flat file has its weights.

use super::DIMS;

/// Components of a token's embedding.
pub(crate) const WIDTH: usize = DIMS;
/// Components of one convolution branch.
pub(crate) const BRANCH_WIDTH: usize = 256;
/// How many tokens each branch sees, and how many of them stand left of the token itself.
pub(crate) const BRANCHES: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
/// The embedding and all branches side by side.
pub(crate) const FEATURES: usize = WIDTH + BRANCHES.len() * BRANCH_WIDTH;
/// The narrow layers at the end.
pub(crate) const HIDDEN: usize = 320;
/// Tokens share a scale and an offset with all whose number leaves the same remainder.
pub(crate) const GROUPS: usize = 17;
/// Columns that the kernel computes at once; matrices are stored in panels of so many columns.
pub(crate) const PANEL: usize = 16;

/// One array of the archive: its name there, and its shape.
#[derive(Debug, Clone)]
pub(super) struct Array {
    pub(super) name: String,
    pub(super) rows: usize,
    /// 0 for what is not a matrix and has `rows` numbers.
    pub(super) columns: usize,
}

impl Array {
    pub(super) const fn len(&self) -> usize {
        if self.columns == 0 { self.rows } else { self.rows * self.columns }
    }
}

/// All arrays of f32, in the order of the flat file.
pub(super) fn arrays() -> Vec<Array> {
    let list = |name: String, length: usize| Array { name, rows: length, columns: 0 };
    let matrix = |name: String, rows: usize, columns: usize| Array { name, rows, columns };
    let mut arrays = vec![list("scale".to_owned(), GROUPS), list("lo".to_owned(), GROUPS)];
    for (tokens, _) in BRANCHES {
        arrays.extend([
            matrix(format!("proj{tokens}"), WIDTH, BRANCH_WIDTH),
            list(format!("proj_b{tokens}"), BRANCH_WIDTH),
            list(format!("ln_g{tokens}"), BRANCH_WIDTH),
            list(format!("ln_b{tokens}"), BRANCH_WIDTH),
            matrix(format!("w1_{tokens}"), tokens * BRANCH_WIDTH, BRANCH_WIDTH),
            list(format!("b1_{tokens}"), BRANCH_WIDTH),
            matrix(format!("w2_{tokens}"), tokens * BRANCH_WIDTH, BRANCH_WIDTH),
            list(format!("b2_{tokens}"), BRANCH_WIDTH),
        ]);
    }
    arrays.extend([
        list("ln_g".to_owned(), FEATURES),
        list("ln_b".to_owned(), FEATURES),
        matrix("cnn_W".to_owned(), FEATURES, DIMS),
        list("cnn_b".to_owned(), DIMS),
        matrix("d0".to_owned(), DIMS, HIDDEN),
        matrix("p1".to_owned(), DIMS, HIDDEN),
        matrix("d1".to_owned(), HIDDEN, HIDDEN),
        matrix("d2".to_owned(), HIDDEN, DIMS),
        matrix("p3".to_owned(), HIDDEN, DIMS),
        matrix("d3".to_owned(), DIMS, DIMS),
    ]);
    arrays
}

/// How many f32 the flat file has.
pub(super) fn floats() -> usize {
    arrays().iter().map(Array::len).sum()
}
