/**
 * Emits the methods that read and write an object's JSON, if encoding/json alone cannot: for additional fields and for
 * unions.
 */
import type { ClientField, ObjectDeclaration, Use } from '../../clients/model.ts'
import { aligned, oneLine } from './format.ts'
import { exported } from './names.ts'
import type { GoPackage } from './package.ts'

export function emitJson(object: ObjectDeclaration, goPackage: GoPackage): string[] {
  const name = goPackage.goName(object.name)
  const [isOpen, isReceived] = [object.rest !== null, goPackage.isReceived(object.name)]
  const unions = object.fields.filter(({ use }) => unionIn(use, goPackage) !== null)
  if (isOpen && isReceived && unions.length > 0) throw new Error(`the open object ${name} has a union`)
  return [
    ...(isOpen ? [marshal(name)] : []),
    ...(isOpen && isReceived ? [unmarshalOpen(name)] : []),
    ...(isReceived && unions.length > 0 ? [unmarshalUnions(name, unions, goPackage)] : []),
  ]
}

const marshal = (name: string) =>
  oneLine(`func (o ${name}) MarshalJSON() ([]byte, error)`, 'return wire.MarshalOpen(o, o.Extra)')

const unmarshalOpen = (name: string) =>
  oneLine(`func (o *${name}) UnmarshalJSON(data []byte) error`, 'return wire.UnmarshalOpen(data, o, &o.Extra)')

/** Fields with a union are read as raw JSON first. The raw fields hide the fields in the embedded struct. */
function unmarshalUnions(name: string, unions: readonly ClientField[], goPackage: GoPackage): string {
  const rows = unions.map((field) => ({
    cells: [exported(field.name), rawType(field.use), `\`json:"${field.name}"\``],
  }))
  const decodes = unions.map((field) => {
    const goName = exported(field.name)
    return `\tif o.${goName}, err = ${decoder(field.use, `fields.${goName}`, goPackage)}; err != nil {\n\t\treturn err\n\t}\n`
  })
  return `// UnmarshalJSON reads the unions by their tags.
func (o *${name}) UnmarshalJSON(data []byte) error {
	type plain ${name}
	fields := struct {
		*plain
${aligned(rows).replace(/^/gm, '\t').replace(/\t$/, '')}	}{plain: (*plain)(o)}
	err := json.Unmarshal(data, &fields)
	if err != nil {
		return err
	}
${decodes.join('')}	return nil
}`
}

/** Returns the union in a type: directly, in a list, or in a map. Null if there is no union. */
function unionIn(use: Use, goPackage: GoPackage): string | null {
  const inner = withoutNull(use)
  if (inner.kind === 'list') return unionIn(inner.item, goPackage)
  if (inner.kind === 'map') return unionIn(inner.value, goPackage)
  return goPackage.isUnion(inner) ? goPackage.goName(inner.name) : null
}

function rawType(use: Use): string {
  const { kind } = withoutNull(use)
  if (kind === 'list') return '[]json.RawMessage'
  return kind === 'map' ? 'map[string]json.RawMessage' : 'json.RawMessage'
}

function decoder(use: Use, value: string, goPackage: GoPackage): string {
  const { kind } = withoutNull(use)
  const decode = { list: 'wire.DecodeList', map: 'wire.DecodeMap' }[kind as string] ?? 'wire.DecodeOne'
  return `${decode}(${value}, decode${unionIn(use, goPackage) ?? ''})`
}

const withoutNull = (use: Use): Use => (use.kind === 'nullable' ? use.of : use)
