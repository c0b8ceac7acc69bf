/** Reads a systemd unit, as far as the units for Parley, Caddy and Postgres need it. */

export type Unit = {
  /**
   * Returns a directive's last value. This is right only for directives whose later values replace the earlier ones.
   */
  one(name: string): string | undefined
  all(name: string): string[]
}

/** Reads the unit with its drop-ins. `instance` is the part between @ and the end of the name. */
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

/** Reads the assignments in the directive Environment, such as `A=1 B=2`. */
export function readAssignments(line: string): Record<string, string> {
  return Object.fromEntries(line.split(' ').map(pair))
}

/** Reads a file from the directive EnvironmentFile. A value may be in quotes. */
export function readEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^\w+=/.test(line))
  return Object.fromEntries(lines.map(pair).map(([name, value]) => [name, value.replace(/^(['"])(.*)\1$/, '$2')]))
}

/** Reads a time span, such as `11min`, `5s` or `2`, in seconds. */
export function readSpanS(span: string): number {
  const [, count = '0', unit = 's'] = /^(\d+)(\w*)$/.exec(span) ?? []
  return Number(count) * (unit.startsWith('min') ? 60 : unit.startsWith('h') ? 3600 : 1)
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}
