/** Writes a request as a curl command for a POSIX shell. */
import { idempotencyKey } from '../ir.ts'
import { type Sample, type SampleBody, type SamplePart, sampleFile } from './sample.ts'

export function curlRequest(sample: Sample): string {
  const { operation, answersBytes } = sample
  const method = operation.method.toUpperCase()
  const isUsual = method === (sample.body === null ? 'GET' : 'POST')
  const lines = [
    `curl ${isUsual ? '' : `-X ${method} `}"$PARLEY_URL${address(sample)}"`,
    ...(operation.needsKey ? ['-H "Authorization: Bearer $PARLEY_API_KEY"'] : []),
    ...Object.entries(sample.headers).map(([name, value]) => `-H ${headerText(name, value)}`),
    ...(sample.body === null ? [] : bodyLines(sample.body)),
    ...(answersBytes ? ['--output answer.bin'] : []),
  ]
  return lines.join(' \\\n  ')
}

function address({ operation, path, query }: Sample): string {
  const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(String(path[name])),
  )
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return search === '' ? filled : `${filled}?${search}`
}

/** A repeated command is a new request, so its idempotency key is new. */
function headerText(name: string, value: string): string {
  return name === idempotencyKey ? `"${name}: $(date +%s%N)"` : quote(`${name}: ${value}`)
}

function bodyLines(body: SampleBody): string[] {
  if (body.kind === 'json') return [`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body.value))}`]
  if (body.kind === 'file') return [`-H 'Content-Type: ${body.type}'`, `--data-binary @${sampleFile}`]
  return body.parts.flatMap(partLines)
}

function partLines({ name, kind, value }: SamplePart): string[] {
  if (kind === 'file') return [`-F ${quote(`${name}=@${String(value)}`)}`]
  if (kind === 'json') return [`-F ${quote(`${name}=${JSON.stringify(value)};type=application/json`)}`]
  return [value].flat().map((text) => `-F ${quote(`${name}=${String(text)}`)}`)
}

/** Quotes a text for the shell. Between single quotes, only the closing quote has a meaning. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
