// Package field represents errors in a request as values: the field, its value, what is allowed, and the nearest
// match. Operations know fields ("num_devices"); each interface names them in its own way: a flag on the command
// line, a path in JSON.
//
// In: names and values from whoever checks a request, or JSON text for [Decode]. Out: an [*Error] for each mistake; [Each]
// takes joined ones apart, [Names] lists the fields they are about, and [Say] renders them for an interface. It does not
// know which fields there are. Start at [Errorf] and [OneOf]; start at [Decode] to read a request.
package field
