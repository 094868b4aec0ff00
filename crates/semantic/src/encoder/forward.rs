//! The network, from tokens to the vector of a sentence: embeddings, three convolution branches with a
//! window of two, three and five tokens, one sum over the tokens, four dense layers.

use std::path::Path;

use super::{
    kernels::{Normalize, Product, relu, to_unit_length},
    tokens::Tokenizer,
};
use crate::{
    Vector,
    model::{
        BRANCH_WIDTH, BRANCHES, Branch, Convolution, DIMS, DirectoryError, FEATURES, FlatError, HIDDEN,
        Model, WIDTH, read_directory,
    },
};

/// Longer texts are cut here, so that no text takes more than a bounded time. 500 characters of Chinese
/// have about 350 tokens; only ligatures that stand for whole phrases get near this.
pub const TOKENS_MAX: usize = 1_024;

/// A loaded model. It is only read, and may be shared.
#[derive(Debug)]
pub struct Encoder {
    model: Model<'static>,
    tokenizer: Tokenizer,
}

impl Encoder {
    /// Uses a packed model where it lies, as `semantic-model` carries it.
    pub fn from_bytes(packed: &'static [u8]) -> Result<Self, FlatError> {
        Ok(Self::new(Model::read(packed)?))
    }

    /// Copies a packed model.
    pub fn from_copy(packed: &[u8]) -> Result<Self, FlatError> {
        Ok(Self::new(Model::read(packed)?.into_owned()))
    }

    /// Packs the two original files of a directory in memory. It takes about a second.
    pub fn from_directory(directory: &Path) -> Result<Self, DirectoryError> {
        Ok(Self::new(read_directory(directory)?))
    }

    fn new(model: Model<'static>) -> Self {
        let tokenizer = Tokenizer::new(&model.vocabulary);
        Self { model, tokenizer }
    }

    /// The vector of a text, as it is stored and compared.
    pub fn embed(&self, text: &str) -> Vector {
        Vector::quantise(&self.encode(text))
    }

    /// The vector of a text before it is quantised, of length 1. A text of white space alone has one too.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        self.forward(&self.tokens(text))
    }

    /// The numbers of the text's tokens, begin and end included.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.tokens(&self.model.vocabulary, text, TOKENS_MAX)
    }

    #[expect(clippy::cast_precision_loss, reason = "there are at most 1,024 tokens")]
    fn forward(&self, tokens: &[u32]) -> Vec<f32> {
        let embedded = self.embedded(tokens);
        let mut features = vec![0.0; tokens.len() * FEATURES];
        for (features, row) in features.chunks_exact_mut(FEATURES).zip(embedded.chunks_exact(WIDTH)) {
            features[..WIDTH].copy_from_slice(row);
        }
        for ((number, shape), branch) in BRANCHES.into_iter().enumerate().zip(&self.model.branches) {
            let seen = convolve(branch, shape, &embedded, tokens.len());
            let from = WIDTH + number * BRANCH_WIDTH;
            for (features, row) in features.chunks_exact_mut(FEATURES).zip(seen.chunks_exact(BRANCH_WIDTH)) {
                features[from..from + BRANCH_WIDTH].copy_from_slice(row);
            }
        }
        let (gain, bias) = (&self.model.norm.gain, &self.model.norm.bias);
        Normalize { rows: &mut features, gain, bias }.apply();

        let mut sum = vec![0.0_f32; FEATURES];
        for row in features.chunks_exact(FEATURES) {
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let count = tokens.len() as f32;
        let mut sentence: Vec<f32> = self.model.sentence_bias.iter().map(|bias| bias * count).collect();
        add_product(&sum, &self.model.sentence, &mut sentence);
        let factor = 1.0 / count.sqrt();
        for value in &mut sentence {
            *value *= factor;
        }
        self.dense(&sentence)
    }

    /// The bytes of each token's row as numbers.
    fn embedded(&self, tokens: &[u32]) -> Vec<f32> {
        let mut embedded = Vec::with_capacity(tokens.len() * WIDTH);
        for token in tokens.iter().map(|token| *token as usize) {
            let row = self.model.table.get(token * WIDTH..(token + 1) * WIDTH);
            let group = token % self.model.scale.len();
            let (scale, offset) = (self.model.scale[group], self.model.offset[group]);
            // Damaged tables may name tokens that are not there.
            let row = row.unwrap_or(&[0; WIDTH]);
            embedded.extend(row.iter().map(|byte| f32::from(*byte) * scale + offset));
        }
        embedded
    }

    fn dense(&self, sentence: &[f32]) -> Vec<f32> {
        let dense = &self.model.dense;
        let mut zero = vec![0.0; HIDDEN];
        add_product(sentence, &dense.zero, &mut zero);
        relu(&mut zero);
        let mut one = vec![0.0; HIDDEN];
        add_product(sentence, &dense.past_zero, &mut one);
        add_product(&zero, &dense.one, &mut one);
        relu(&mut one);
        let mut two = vec![0.0; DIMS];
        add_product(&one, &dense.two, &mut two);
        relu(&mut two);
        let mut out = vec![0.0; DIMS];
        add_product(&one, &dense.past_two, &mut out);
        add_product(&two, &dense.three, &mut out);
        for value in &mut out {
            // The platform's own function may differ in the last bit.
            *value = libm::tanhf(*value);
        }
        to_unit_length(&mut out);
        out
    }
}

/// One branch: the embeddings projected and normalised, then two convolutions, each added to its input.
fn convolve(branch: &Branch<'_>, (window, left): (usize, usize), embedded: &[f32], count: usize) -> Vec<f32> {
    let mut rows = repeated(&branch.projection_bias, count);
    Product {
        rows: embedded,
        stride: WIDTH,
        matrix: &branch.projection,
        columns: BRANCH_WIDTH,
        out: &mut rows,
    }
    .add();
    Normalize { rows: &mut rows, gain: &branch.norm.gain, bias: &branch.norm.bias }.apply();
    for Convolution { matrix, bias } in &branch.convolutions {
        // With zeros around them, the windows of all tokens are overlapping rows of one list.
        let mut padded = vec![0.0; (count + window - 1) * BRANCH_WIDTH];
        padded[left * BRANCH_WIDTH..(left + count) * BRANCH_WIDTH].copy_from_slice(&rows);
        let mut out = repeated(bias, count);
        Product { rows: &padded, stride: BRANCH_WIDTH, matrix, columns: BRANCH_WIDTH, out: &mut out }.add();
        relu(&mut out);
        for (row, out) in rows.iter_mut().zip(&out) {
            *row += out;
        }
    }
    rows
}

fn repeated(row: &[f32], count: usize) -> Vec<f32> {
    row.repeat(count)
}

fn add_product(row: &[f32], matrix: &[f32], out: &mut [f32]) {
    Product { rows: row, stride: row.len(), matrix, columns: out.len(), out }.add();
}
