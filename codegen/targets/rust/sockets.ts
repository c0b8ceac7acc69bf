/** Emits the client of an API with sockets, their frames, and the table of its errors. */
import type { ClientChannel, ClientFrame, Surface } from '../../clients/model.ts'
import { patterns } from './errors.ts'
import { braces, documentation, method, rustFile } from './format.ts'
import type { RustModule } from './module.ts'
import { variable, variant } from './names.ts'

export function emitSockets(module: RustModule): string | null {
  const { name, channels, file } = module.surface
  if (channels.length === 0) return null
  const type = variant(name)
  const client = `/// Opens the sockets of the surface \`${name}\`. A clone is cheap.
#[derive(Clone, Debug)]
pub struct ${type} {
    client: Client,
}

impl ${type} {
    /// Makes a client for the surface with the settings of a connection.
    pub fn new(client: &Client) -> Self {
        Self { client: client.clone() }
    }

${channels.map(emitChannel).join('\n\n')}
}`
  const frames = channels.flatMap((channel) => emitFrames(channel, module))
  return rustFile('sockets', file, 'use super::*;\n', [client, ...frames, emitRetryable(module.surface)])
}

function emitChannel({ id, title, address, parameters, query, subprotocol }: ClientChannel): string {
  const doc = documentation(`${title} (\`${address}\`).`, '    ')
  const path = parameters.map((parameter) => `, ${variable(parameter)}: &str`).join('')
  const { input, value } = queryOf(query)
  const header = `pub async fn ${variable(id)}(&self${path}${input}) -> Result<${variant(id)}Socket>`
  const escaped = parameters.map((parameter) => `, ${parameter} = crate::wire::escape(${variable(parameter)})`).join('')
  const text = parameters.length === 0 ? `"${address}".to_owned()` : `format!("${address}"${escaped})`
  const fields = [`address: ${text}`, value, `subprotocol: ${JSON.stringify(subprotocol ?? '')}`]
  const channel = braces('let channel = Channel', [...fields, 'retryable'], '        ').trimStart()
  return doc + method(header, [`${channel};`, 'Socket::open(&self.client, channel).await'])
}

/**
 * If the channel has a single parameter with one possible value, the client always sends this value. Otherwise the
 * caller gives the query.
 */
function queryOf(query: ClientChannel['query']): { input: string; value: string } {
  const [only, ...others] = query
  if (only === undefined) return { input: '', value: 'query: &[]' }
  if (others.length > 0 || only.values.length !== 1) return { input: ', query: &[(&str, &str)]', value: 'query' }
  return { input: '', value: `query: &[(${JSON.stringify(only.name)}, ${JSON.stringify(only.values[0])})]` }
}

function emitFrames({ id, frameType, sends, receives }: ClientChannel, module: RustModule): string[] {
  const [name, sent, received] = ['Socket', 'Sent', 'Received'].map((end) => module.names.take(variant(id) + end))
  const typed = (frames: readonly ClientFrame[]) =>
    frames.flatMap(({ type, use }) => (use === null ? [] : [{ type, row: `${variant(type)}(${module.typeOf(use)})` }]))
  const sentRows = typed(sends).map(({ row }) => row)
  const receivedRows = typed(receives).map(({ type, row }) => `${row} = ${JSON.stringify(type)}`)
  return [
    `/// The socket of \`${id}\`.\npub type ${name} = Socket<${sent}, ${received}>;`,
    `frames! {
${braces(`${sent} sends`, sentRows, '    ')}
${braces(`${received} by ${JSON.stringify(frameType)} receives`, receivedRows, '    ')}
}`,
  ]
}

function emitRetryable({ closeCodes }: Surface): string {
  const closing = Object.entries(closeCodes ?? {}).filter(([, { closeCode }]) => closeCode !== null)
  const arms = [true, false].flatMap((retryable) => {
    const codes = closing.filter(([, row]) => row.retryable === retryable).map(([code]) => JSON.stringify(code))
    return codes.length === 0 ? [] : [patterns(codes, `Some(${retryable})`)]
  })
  return `/// Returns whether a new socket may succeed after an error code that closes a socket.
fn retryable(code: &str) -> Option<bool> {
    match code {
${arms.join('')}        _ => None,
    }
}`
}
