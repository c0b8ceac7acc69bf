/** Removes credentials from a value. The platform API's responses show no credential, but a user's metadata may. */

const mark = '[redacted]'
/** Field names of secrets. Only strings in such fields are replaced, because a number in a field `token` is a count. */
const secretName =
  /(^|[_\- a-z])(secret|password|passphrase|authorization|credentials?|cookie|(api|private)[_-]?key|token)$/i
const secretText =
  /\b(sk_(live|test)_\w+|whsec_[\w+/=]+|Bearer\s+[\w.~+/=-]+|eyJ[\w-]+\.[\w-]+\.[\w-]*|v1\.[\w-]{20,}(\.[\w-]+)*)/g

export function redacted(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(secretText, mark)
  if (Array.isArray(value)) return value.map(redacted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      typeof each === 'string' && secretName.test(name) ? mark : redacted(each),
    ]),
  )
}
