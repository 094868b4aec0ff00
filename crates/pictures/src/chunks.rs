//! The chunks of a PNG, less its colour profiles.
//!
//! A profile is compressed and may inflate to all that the decoder may take, beside the pixels; nothing here uses
//! it. Texts stay, since the decoder leaves them as they are.

/// Length and name before a chunk's data, and the sum after them.
const AROUND_BYTES: usize = 12;
const SIGNATURE_BYTES: usize = 8;

/// The file without profiles. From the first chunk that is not whole on it stays as it is.
pub(crate) fn without_profiles(file: &[u8]) -> Vec<u8> {
    let (signature, mut rest) = file.split_at(SIGNATURE_BYTES.min(file.len()));
    let mut kept = Vec::with_capacity(file.len());
    kept.extend(signature);
    while let Some((length, _)) = rest.split_first_chunk() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let Some((chunk, after)) = rest.split_at_checked(length.saturating_add(AROUND_BYTES)) else { break };
        if !chunk[4..].starts_with(b"iCCP") {
            kept.extend(chunk);
        }
        rest = after;
    }
    kept.extend(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(name: [u8; 4], data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length[..], &name, data, b"sums"].concat()
    }

    #[test]
    fn only_profiles_are_left_out() {
        let [head, profile, text, end] =
            [(*b"IHDR", &b"size"[..]), (*b"iCCP", b"iCCPiCCP"), (*b"tEXt", b"....iCCP"), (*b"IEND", b"")]
                .map(|(name, data)| chunk(name, data));
        let file = [b"\x89PNG\r\n\x1a\n", &head[..], &profile, &text, &profile, &end].concat();
        let wanted = [b"\x89PNG\r\n\x1a\n", &head[..], &text, &end].concat();
        assert_eq!(without_profiles(&file), wanted);
    }

    #[test]
    fn what_is_not_whole_stays() {
        let profile = chunk(*b"iCCP", b"some");
        let file = [b"\x89PNG\r\n\x1a\n", &profile[..]].concat();
        for length in 0..file.len() {
            assert_eq!(without_profiles(&file[..length]), file[..length]);
        }
        assert_eq!(without_profiles(&file).len(), SIGNATURE_BYTES);
        let too_long = [&file[..8], b"\xff\xff\xff\xffiCCP and more"].concat();
        assert_eq!(without_profiles(&too_long), too_long);
    }
}
