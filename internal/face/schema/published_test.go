package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/face/schema"
)

// TestPublishedSchema: docs/schema has the schema of a plan's record as programs get it.
func TestPublishedSchema(t *testing.T) {
	table := operation.Table()
	schemas, err := schema.New(table)
	if err != nil {
		t.Fatal(err)
	}
	s := *schemas.Response(operation.Lookup(table, "plan"))
	s.Schema, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", "urn:plimsoll:plan", "plan.json of plimsoll plan"
	data, err := json.MarshalIndent(&s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../docs/schema/plan.schema.json", append(data, '\n'))
}
