/** Header values name no more fields, and no longer ones: their names come from the client. */
const namedMax = 32
const nameable = /^[A-Za-z0-9_.-]{1,64}$/

/** The fields of a body that `x-service-ignored` names. */
export function namedFields(ignored: readonly string[]): readonly string[] {
  return ignored.filter((field) => nameable.test(field)).slice(0, namedMax)
}
