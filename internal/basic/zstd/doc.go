// Package zstd decompresses Zstandard (RFC 8878).
//
// In: whole frames in memory and the largest size their content may have. Out: the content, or an error for whatever is
// damaged; never a panic. It does not compress, knows no dictionaries, and passes over checksums: whoever keeps the data
// (a Parquet page) says how long its content must be. The usual library costs every start of the program a fifth of a millisecond
// before it is asked anything. Start at [Decode].
package zstd
