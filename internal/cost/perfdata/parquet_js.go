//go:build js

package perfdata

import "errors"

// parquetFile is a table that cannot be opened: a page without a server has no files, and is a third smaller without the library.
type parquetFile struct{}

// rowGroup is a part of a table.
type rowGroup struct{}

func open([]byte) (*parquetFile, error) {
	return nil, errors.New("Parquet files cannot be read here") //nolint:staticcheck // a name
}

func (*parquetFile) has(string) bool { return false }

func (*parquetFile) column(int, string) (*column, error) { return nil, errNoColumn }

// NumRows is that of the library.
func (*parquetFile) NumRows() int64 { return 0 }

// RowGroups is that of the library.
func (*parquetFile) RowGroups() []rowGroup { return nil }

// NumRows is that of the library.
func (rowGroup) NumRows() int64 { return 0 }
