package engine

// Flags lists the flags that an engine's server has had in the releases that were
// looked at; none where no list is kept.
func Flags(name string) []string { return nil }
