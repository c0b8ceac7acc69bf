package parley

import "encoding/json"

// Ptr returns a pointer to a value, for optional fields.
func Ptr[T any](value T) *T { return &value }

// Nullable is an optional field that can be null. Its zero value is left out.
type Nullable[T any] struct {
	value *T
	isSet bool
}

// Value returns a field with a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// Null returns a field that is null.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// Get returns the value. It returns false if the field is null or absent.
func (n Nullable[T]) Get() (T, bool) {
	if n.value == nil {
		var zero T
		return zero, false
	}
	return *n.value, true
}

// IsNull is true if the field is null.
func (n Nullable[T]) IsNull() bool { return n.isSet && n.value == nil }

// IsZero is true if the field is absent. Then encoding/json leaves it out.
func (n Nullable[T]) IsZero() bool { return !n.isSet }

// MarshalJSON returns the value's JSON, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON reads a value or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.isSet = true
	return json.Unmarshal(data, &n.value)
}
