/** The lines of `up` when the server is ready. */
import type { FirstKey } from '../bootstrap.ts'

export type Ready = {
  version: string
  /** The address at which programs of this machine reach the server. */
  url: string
  /** The address for others, behind a proxy; null if none is set. */
  publicUrl: string | null
  /** The server listens at every address of this machine. */
  isEverywhere: boolean
  /** Null: nobody gets the pages. */
  page: string | null
  firstKey: FirstKey
  engine: string
  /** The hosts at which alone these surfaces are served; null: at each host. */
  routerHost: string | null
  compatHost: string | null
}

export function greeting(ready: Ready): string {
  const { version, url, page, firstKey, engine } = ready
  const base = ready.publicUrl ?? url
  return [
    `Parley ${version} is ready at ${url}`,
    ...(ready.publicUrl === null ? [] : [`Others reach it at ${ready.publicUrl}.`]),
    ...(ready.isEverywhere ? ['It listens at every address of this machine.'] : []),
    `It serves over ${engine}.`,
    '',
    ...(page === null
      ? []
      : [
          `  web   ${page}: speak, listen, and see which provider served`,
          `  talk  ${page}/agent: talk to a voice agent`,
        ]),
    `  api   ${atHost(base, ready.compatHost)}/v1 is the base URL for OpenAI's clients, with the key and the model auto`,
    ...keyLines(firstKey),
    `  try   ${requestOf(ready)} -H ${authorization(firstKey)}`,
    '  add   OPENAI_API_KEY=… and its like add a provider each (see README), parley.yaml adds any other',
    '',
  ].join('\n')
}

/** A line that works on this machine: if no public address is set, the name of the router's host may belong to another machine, so the header Host carries the name. */
function requestOf({ url, publicUrl, routerHost }: Ready): string {
  const isNamed = routerHost !== null && publicUrl === null
  const base = publicUrl === null ? url : atHost(publicUrl, routerHost)
  // At its own host the surface has no prefix.
  const path = routerHost === null ? '/router/v1/models' : '/v1/models'
  return `curl -s ${base}${path}${isNamed ? ` -H 'Host: ${routerHost}'` : ''}`
}

/** The address of a surface that is served at its host alone. A path in `publicUrl` belongs to the other host. */
function atHost(base: string, host: string | null): string {
  if (host === null) return base
  const { protocol, port } = new URL(base)
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
}

function keyLines(first: FirstKey): string[] {
  if (first.kind === 'local') return [`  key   ${first.key}`]
  if (first.kind === 'named') return ['  key   the one in PARLEY_BOOTSTRAP_KEY']
  if (first.kind === 'stored')
    return ['  key   `parley keys create --org NAME` makes one; `parley org list` has the names']
  return ['  key   none yet: `parley org create NAME`, then `parley keys create --org NAME`']
}

/** In double quotes a shell puts the value of $KEY in. */
const authorization = (first: FirstKey) =>
  first.kind === 'local' ? `'Authorization: Bearer ${first.key}'` : '"Authorization: Bearer $KEY"'
