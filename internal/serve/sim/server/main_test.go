package server

import (
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/soak"
)

func TestMain(m *testing.M) { soak.Main(m) }
