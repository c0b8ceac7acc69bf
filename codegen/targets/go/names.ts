/** Go's names: initialisms are in capitals, and each name in a package is unique. */
import { identifier, words } from '../../clients/names.ts'

const initialisms = new Set(
  'AMD API CSV DNS DTMF HTTP HTTPS ID IP JSON LLM PCM SIP SMS SSE STT TCP TLS TTL TTS UDP URI URL USD UTC UUID WAV'.split(
    ' ',
  ),
)

const reserved = new Set(
  (
    'break case chan const continue default defer else fallthrough for func go goto if import interface map package ' +
    'range return select struct switch type var body c client context ctx form http io json options params parley ' +
    'time url wire'
  ).split(' '),
)

export function exported(name: string): string {
  const joined = words(name).map(capital).join('')
  return /^[A-Za-z]/.test(joined) ? joined : `N${joined}`
}

/** Returns the name for a variable. */
export function local(name: string): string {
  const [first = '', ...rest] = words(name)
  return identifier(first.toLowerCase() + rest.map(capital).join(''), reserved)
}

function capital(word: string): string {
  const upper = word.toUpperCase()
  if (initialisms.has(upper)) return upper
  if (upper.endsWith('S') && initialisms.has(upper.slice(0, -1))) return `${upper.slice(0, -1)}s`
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()
}

/** Returns an expression to join literal text and escaped parameters: "/v1/agents/" + url.PathEscape(id). */
export function pathOf(path: string): string {
  const pieces = path.split(/\{([^}]+)\}/)
  const printed = pieces.map((piece, place) =>
    place % 2 === 0 ? JSON.stringify(piece) : `url.PathEscape(${local(piece)})`,
  )
  return printed.filter((piece) => piece !== '""').join(' + ')
}

/** The names in use in one package. */
export class PackageNames {
  readonly #used = new Set(['Audio', 'Bool', 'Client', 'New', 'Number', 'Object', 'Text', 'Unknown'])

  /** Reserves a name in the package. If the name is in use, the suffix is added. */
  take(name: string, suffix: string): string {
    const free = this.#used.has(name) ? name + suffix : name
    if (this.#used.has(free)) throw new Error(`two declarations have the Go name ${free}`)
    this.#used.add(free)
    return free
  }
}

/** Makes the names in a small scope unique, such as the names of a struct's fields. */
export function distinct(names: readonly string[]): string[] {
  const used = new Set<string>()
  return names.map((name) => {
    let free = name
    while (used.has(free)) free += 'Alias'
    used.add(free)
    return free
  })
}
