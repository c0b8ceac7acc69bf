/** Reads Prometheus' text format, and checks the names in queries. */

/** The label names of each metric, including Prometheus' own labels. Null for a metric without lines. */
export type Emitted = Map<string, Set<string> | null>

/** Reads the metrics with their names in queries. A histogram has three names. */
export function readEmitted(text: string): Emitted {
  const emitted: Emitted = new Map()
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']
    for (const suffix of suffixes) emitted.set(name + suffix, null)
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label)
    emitted.set(name, new Set([...(emitted.get(name) ?? ['instance', 'job']), ...names]))
  }
  // Prometheus adds this metric itself.
  emitted.set('up', new Set(['instance', 'job']))
  return emitted
}

/** Returns one sentence for each name in the query that the server does not emit. */
export function faultsOf(query: string, emitted: Emitted): string[] {
  const bare = query.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, '')
  const grouped = [...bare.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
  const faults: string[] = []
  const metrics = [...bare.matchAll(/\b((?:parley|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g)]
  if (metrics.length === 0) faults.push(`${query} names no metric`)
  for (const [, name = '', matchers = ''] of metrics) {
    const labels = emitted.get(name)
    if (labels === undefined) faults.push(`no metric ${name}`)
    const used = [...grouped, ...[...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label)]
    if (labels) for (const label of used) if (!labels.has(label)) faults.push(`${name} has no label ${label}`)
  }
  return faults
}

/** Returns Parley's time series, without the metrics about Node. */
export function seriesOf(text: string): string[] {
  return [...text.matchAll(/^(parley_\S*?(?:\{.*\})?) \S+$/gm)].map(([, series = '']) => series).sort()
}
