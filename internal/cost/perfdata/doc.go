// Package perfdata reads directories of measured kernel tables in the layout of
// AIConfigurator's data: <system>/<family>/<engine>/<version>/<table>.parquet,
// the same under data/, or without the family.
//
// In: an fs.FS. Out: which tables there are, and the rows of one that carry a
// key. It knows the names of tables, not what their numbers mean: cost/table
// does. Start with Open, then System.Choose and Read.
package perfdata
