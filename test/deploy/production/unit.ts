/** Reads a unit of systemd as far as the units of Parley, Caddy and Postgres need it. */

export type Unit = {
  /** The last value of a directive counts, except where it can stand several times. */
  one(name: string): string | undefined
  all(name: string): string[]
}

/** The unit with its drop-ins. `instance` is what stands between @ and the end of its name. */
export function readUnit(texts: readonly string[], instance: string): Unit {
  const directives = texts.flatMap((text) =>
    [...text.replaceAll(/\\\n/g, ' ').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({
      name,
      value: value.replaceAll('%i', instance),
    })),
  )
  const all = (name: string) => directives.filter((each) => each.name === name).map(({ value }) => value)
  return { all, one: (name) => all(name).at(-1) }
}

/** `A=1 B=2` of Environment. */
export function readAssignments(line: string): Record<string, string> {
  return Object.fromEntries(line.split(' ').map(pair))
}

/** A file that EnvironmentFile names. A value can be in quotes. */
export function readEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^\w+=/.test(line))
  return Object.fromEntries(lines.map(pair).map(([name, value]) => [name, value.replace(/^(['"])(.*)\1$/, '$2')]))
}

/** Seconds of a time span such as `11min`, `5s` or `2`. */
export function readSpanS(span: string): number {
  const [, count = '0', unit = 's'] = /^(\d+)(\w*)$/.exec(span) ?? []
  return Number(count) * (unit.startsWith('min') ? 60 : unit.startsWith('h') ? 3600 : 1)
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}
