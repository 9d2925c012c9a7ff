package guard

import (
	"fmt"
	"time"
)

// RememberedFailures is how many clients are remembered after so many have failed.
func RememberedFailures(clients int) int {
	var f failures
	for i := range clients {
		f.add(fmt.Sprint("client ", i), time.Unix(int64(i/1000), 0))
	}
	return len(f.now) + len(f.then)
}
