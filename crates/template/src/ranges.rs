//! Looks characters up in tables of ranges.

/// Whether `c` is in one of the ranges of `bounds`, which has the first and the last character of each range.
pub(crate) fn within(bounds: &[u32], c: char) -> bool {
    // The first bound that is not below `c` is either the end of a range that contains `c`, or a start.
    let c = c as u32;
    let below = bounds.partition_point(|&bound| bound < c);
    below % 2 == 1 || bounds.get(below) == Some(&c)
}
