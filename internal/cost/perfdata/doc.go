// Package perfdata reads directories of measured kernel tables in the layout of
// AIConfigurator's data: <system>/<family>/<engine>/<version>/<table>.parquet,
// the same under data/, or without the family.
//
// In: an fs.FS. Out: which tables there are, and the rows of one that carry a
// key. It knows what a table is called and not what its numbers mean: that is
// the business of cost/table. Start with Open, then System.Choose and Read.
package perfdata
