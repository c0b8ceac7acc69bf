/** Emits the client of an API with sockets, and the table of its errors. */
import type { ClientChannel, Surface } from '../../clients/model.ts'
import { aligned, comment, goFile } from './format.ts'
import { exported, local, pathOf } from './names.ts'

export function emitSockets(surface: Surface): string | null {
  const { name, channels, closeCodes } = surface
  if (channels.length === 0) return null
  const client = `// Client opens the sockets of the surface ${name}.
type Client struct{ client *parley.Client }

// New returns a client for the surface with the settings of a connection.
func New(client *parley.Client) *Client { return &Client{client} }`
  const closing = Object.entries(closeCodes ?? {}).filter(([, { closeCode }]) => closeCode !== null)
  const rows = closing.map(([code, { retryable }]) => ({
    cells: [`${JSON.stringify(code)}:`, `${retryable},`],
  }))
  const table = `// retryable has for each code of an error that closes a socket whether a new socket may succeed.\nvar retryable = map[string]bool{\n${aligned(rows)}}`
  return goFile('sockets', surface, [client, ...channels.map(emitChannel), table])
}

function emitChannel({ id, title, address, parameters, query, subprotocol }: ClientChannel): string {
  const name = exported(id)
  const types = `${name}Sent, ${name}Received`
  const path = parameters.map((parameter) => `, ${local(parameter)} string`).join('')
  const { argument, field } = queryOf(query)
  const doc = comment(`${name} opens the socket ${address}: ${title.charAt(0).toLowerCase()}${title.slice(1)}.`)
  return `${comment(`${name}Socket is the socket of ${name}.`)}type ${name}Socket = parley.Socket[${types}]

${doc}func (c *Client) ${name}(ctx context.Context${path}${argument}) (*${name}Socket, error) {
	channel := parley.Channel{
		Address: ${pathOf(address)}, Subprotocol: ${JSON.stringify(subprotocol ?? '')},
		${field}Retryable: retryable,
	}
	return parley.Open[${types}](ctx, c.client, channel, decode${name}Received)
}`
}

/**
 * If the channel has a single parameter with one possible value, the client always sends this value. Otherwise the
 * caller gives the query, which can be nil.
 */
function queryOf(query: ClientChannel['query']): { argument: string; field: string } {
  const [only, ...others] = query
  if (only === undefined) return { argument: '', field: '' }
  if (others.length > 0 || only.values.length !== 1) return { argument: ', query url.Values', field: 'Query: query, ' }
  const pair = `${JSON.stringify(only.name)}: {${JSON.stringify(only.values[0])}}`
  return { argument: '', field: `Query: url.Values{${pair}}, ` }
}
