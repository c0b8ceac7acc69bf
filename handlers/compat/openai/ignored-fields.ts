/** Limits the number and length of names in a header value, because the names come from the client. */
const namedMax = 32
const nameable = /^[A-Za-z0-9_.-]{1,64}$/

/** Returns the body fields to list in `x-service-ignored`. */
export function namedFields(ignored: readonly string[]): readonly string[] {
  return ignored.filter((field) => nameable.test(field)).slice(0, namedMax)
}
