/**
 * Converts Ajv's errors into one refusal with the invalid field's path, in the schema's words. The refusal never
 * repeats a value from the request.
 */
import { Refusal } from './handler.ts'
import type { Violation } from './operation.ts'

/**
 * Makes the refusal of a body. `param` is a JSON pointer such as `/routing/mode`. `whole` names the body if the
 * violation has no pointer.
 */
export function refuseBody(errors: readonly Violation[] | null | undefined, whole = 'the body'): Refusal {
  return refusal(errors, (violation) => {
    const pointer = pointerTo(violation)
    if (pointer !== '') return { path: pointer, message: `${pointer} ${complaint(violation)}` }
    const expectsObject = violation.keyword === 'type' && [violation.params['type']].flat().join() === 'object'
    return { path: '', message: `${whole} ${expectsObject ? 'must be a JSON object' : complaint(violation)}` }
  })
}

/**
 * Makes the refusal for violations in {path, query, header}. `param` is the parameter's name. `headerName` returns a
 * header's name with the deployment's prefix, as clients send it.
 */
export function refuseParams(
  errors: readonly Violation[] | null | undefined,
  headerName: (lowerCase: string) => string,
): Refusal {
  return refusal(errors, (violation) => {
    const [place = '', name = '', ...within] = pointerTo(violation).slice(1).split('/')
    const path = place === 'header' ? headerName(name) : name
    const subject = within.length === 0 ? path : `/${within.join('/')} of ${path}`
    return { path, message: `${subject} ${complaint(violation)}` }
  })
}

/** The maximum number of issues that a refusal lists. */
const issuesMax = 32

/**
 * Makes the refusal. Its message describes the first invalid value. If the API's validators do not stop at the first
 * error, the refusal lists the other invalid values too.
 */
function refusal(
  errors: readonly Violation[] | null | undefined,
  describe: (violation: Violation) => { path: string; message: string },
): Refusal {
  // Ajv reports the broken rules inside the selected branch, each at its path, and then the `if` itself, which adds
  // nothing.
  const rules = (errors ?? []).filter(({ keyword }) => keyword !== 'if')
  const violations = byPlace(rules).flatMap((group) => clearest(group) ?? [])
  const issues = violations.map((violation) => ({ ...describe(violation), keyword: violation.keyword }))
  const [first] = issues
  if (first === undefined) return new Refusal('invalid_parameter', { message: 'the request is not valid' })
  const { path, message, keyword } = first
  return new Refusal('invalid_parameter', { message, ...(path !== '' && { param: path, keyword, issues }) })
}

/**
 * Groups the violations by path. A union and everything inside it count as one path, because each union member reports
 * separately.
 */
function byPlace(errors: readonly Violation[]): Violation[][] {
  const roots = errors.filter(({ keyword }) => unions.has(keyword)).map(({ instancePath }) => instancePath)
  const within = (root: string, path: string) => path === root || path.startsWith(`${root}/`)
  const groups = new Map<string, Violation[]>()
  for (const error of errors) {
    const place = roots.find((root) => within(root, error.instancePath)) ?? pointerTo(error)
    const group = groups.get(place)
    if (group) group.push(error)
    else if (groups.size < issuesMax) groups.set(place, [error])
  }
  return [...groups.values()]
}

/**
 * Picks the error to show. For a union, Ajv reports the errors in every member and then the union. The deepest error
 * probably belongs to the member that the client meant. At equal depth, an error about another rule wins over a type
 * error. If all are type errors, the message names all types.
 */
function clearest(errors: readonly Violation[] | null | undefined): Violation | undefined {
  const leaves = (errors ?? []).filter(({ keyword }) => !unions.has(keyword))
  const depth = Math.max(...leaves.map(depthOf))
  const deepest = leaves.filter((error) => depthOf(error) === depth)
  const [first, ...others] = deepest
  if (first === undefined) return errors?.[0]
  const best = others.reduce((a, b) => (meantBy(b) > meantBy(a) ? b : a), first)
  if (best.keyword !== 'type') return best
  const ofSameField = deepest.filter(({ instancePath }) => instancePath === best.instancePath)
  return { ...best, params: { type: [...new Set(ofSameField.flatMap(({ params }) => params['type'] ?? []))] } }
}

const unions: ReadonlySet<string> = new Set(['oneOf', 'anyOf'])
const depthOf = ({ instancePath }: Violation) => instancePath.split('/').length

/**
 * Returns a higher number if the error shows more clearly that the client meant this member of the union. Ajv reports
 * an enum also for a value with the wrong type, so an enum shows less than other rules.
 */
function meantBy({ keyword }: Violation): number {
  if (keyword === 'type') return 0
  return keyword === 'enum' || keyword === 'const' ? 1 : 2
}

function pointerTo({ instancePath, params }: Violation): string {
  const field = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  const member = field ?? params['propertyName'] ?? params['tag']
  const pointer = member === undefined ? instancePath : `${instancePath}/${escapeToken(member as string)}`
  return cutPointer(pointer)
}

/** Cuts a JSON pointer, because an unknown field's name comes from the client and can have any length. */
export function cutPointer(pointer: string): string {
  return pointer.slice(0, 256)
}

/** Escapes a part of a JSON pointer (RFC 6901). */
export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * Replaces the contracts' patterns in messages, because a pattern explains little to a client. A test compares the
 * patterns with specs/.
 */
export const patternsInWords: ReadonlyMap<string, string> = new Map([
  [String.raw`^\+[1-9]\d{6,14}$`, 'must be a phone number with + and its country code, such as +12125550100'],
  [String.raw`^[2-9]\d{2}$`, 'must be an area code of three digits, such as 212'],
  [
    String.raw`^[0-9a-fA-F:.]{2,45}/\d{1,3}$`,
    'must be a range of addresses, such as 203.0.113.0/28, or 203.0.113.5/32 for one address',
  ],
  [
    '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
    'must be a name or an address of IPv4 alone, such as sip.example.com; a port has a field beside it',
  ],
  [
    '^([Xx]-[A-Za-z0-9-]{1,62}|[Uu]ser-[Tt]o-[Uu]ser)$',
    'takes the names X-… and User-to-User alone, with letters, digits and hyphens',
  ],
  [
    '^(?!system$)[A-Za-z_][A-Za-z0-9_]{0,63}$',
    'takes names of letters, digits and _ alone, at most 64, and not the name system',
  ],
  [String.raw`^[\x20-\x7e]*$`, 'must have printable ASCII characters alone'],
  ['^[ -~]+$', 'must have printable ASCII characters alone'],
  [String.raw`^[^\x00]*[^\s\x00][^\x00]*$`, 'must not be blank, nor have the character NUL'],
  [String.raw`^[^@\s\x00]+@[^@\s\x00]+$`, 'must be an e-mail address, such as dana@example.com'],
  ['^[A-Z]{2}$', 'must be the two capital letters of a country, such as US'],
])

function complaint({ keyword, message, params }: Violation): string {
  switch (keyword) {
    case 'required':
    case 'dependentRequired':
      return 'is required'
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not a known field'
    case 'propertyNames':
      return 'is not a name that is allowed here'
    case 'discriminator':
      return params['error'] === 'tag' ? 'must be a string' : 'is not one of the known values'
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`
    case 'type':
      return `must be ${[params['type']].flat().join(' or ')}`
    case 'pattern':
      return patternsInWords.get(params['pattern'] as string) ?? message ?? 'is not valid'
    case 'not':
      return 'has a value that is not allowed'
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    default:
      return message ?? 'is not valid'
  }
}
