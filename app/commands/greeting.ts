/** The text printed by `up` when the server is ready. */
import type { FirstKey } from '../bootstrap.ts'

export type Ready = {
  version: string
  /** The URL for programs on this machine. */
  url: string
  /** The URL for other machines, behind a proxy; null if not set. */
  publicUrl: string | null
  /** True if the server listens on all network interfaces. */
  isEverywhere: boolean
  /** Null if the pages are not served. */
  page: string | null
  /** True if people can sign in to the console. */
  hasConsole: boolean
  firstKey: FirstKey
  engine: string
  /** True if the server uses an LLM server that was found at Ollama's port on this machine. */
  usesOllama: boolean
  /** If set, the router API is served only at this host. Null: at every host. */
  routerHost: string | null
  compatHost: string | null
  /**
   * The code that lets a person make the console's first account. Null if an account exists, or if no code is needed.
   */
  setupCode: string | null
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
    ...(ready.hasConsole
      ? [`  see   ${base}/console: each call with its sound, its words and the time of each answer`]
      : []),
    `  api   ${atHost(base, ready.compatHost)}/v1 is the base URL for OpenAI's clients, with the key and the model auto`,
    ...keyLines(firstKey),
    ...(ready.setupCode === null ? [] : [`  code  ${ready.setupCode} makes the first person at ${base}/console/setup`]),
    `  try   ${requestOf(ready)} -H ${authorization(firstKey)}`,
    '  add   OPENAI_API_KEY=… and its like add a provider each (see README), parley.yaml adds any other',
    ...(ready.usesOllama
      ? [
          '  llm   if a server answers at 127.0.0.1:11434, it is used as Ollama; PARLEY_LOCAL_OLLAMA=false turns this off',
        ]
      : []),
    '',
  ].join('\n')
}

/**
 * Returns a `curl` command that works on this machine. Without a public URL, the router host's name may belong to
 * another machine, so the Host header carries the name.
 */
function requestOf({ url, publicUrl, routerHost }: Ready): string {
  const isNamed = routerHost !== null && publicUrl === null
  const base = publicUrl === null ? url : atHost(publicUrl, routerHost)
  // At a separate host the router API has no path prefix.
  const path = routerHost === null ? '/router/v1/models' : '/v1/models'
  return `curl -s ${base}${path}${isNamed ? ` -H 'Host: ${routerHost}'` : ''}`
}

/**
 * Returns the URL for an API with a separate host. The path in `publicUrl` is left out, because it belongs to another
 * host.
 */
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

/** Returns the header for the `curl` command. In double quotes a shell inserts the value of $KEY. */
const authorization = (first: FirstKey) =>
  first.kind === 'local' ? `'Authorization: Bearer ${first.key}'` : '"Authorization: Bearer $KEY"'
