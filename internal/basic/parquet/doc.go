// Package parquet reads flat tables from Parquet files.
//
// In: a file in memory. Out: the names of its columns, its groups of rows, and the values of a column in a group, as numbers or
// as texts. It reads every encoding of values, without compression or with Snappy, gzip or Zstandard; other codecs (LZ4, Brotli)
// are refused by name. Columns inside others (lists, maps, structs) are passed over. A damaged file is an error, never a panic,
// and no length in it is believed before there are bytes for it. It does not write. Start at [Open].
//
// The usual libraries read everything and bring Protocol Buffers, TLS and geometry into the program, which then takes twice as
// long to start, whatever it is asked.
package parquet
