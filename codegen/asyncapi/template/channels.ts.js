/** Renders channels.ts: the engine's dispatch table, and the types that a channel's handlers must have. */
import { File } from '@asyncapi/generator-react-sdk'
import { Banner, Imports } from '../parts/head.js'
import { Handlers, Session } from '../parts/sessions.js'
import { Surface } from '../parts/surface.js'

/** The generator has parsed and checked the document. `model` comes from codegen/targets/typescript/channels.ts. */
export default function ({ params }) {
  const model = JSON.parse(params.model)
  return (
    <File name="channels.ts">
      <Banner file={model.file} />
      <Imports runtimePath={model.runtimePath} typeImport={model.typeImport} />
      <Surface name={model.name} channels={model.channels} />
      {model.channels.map((channel) => (
        <Session channel={channel} />
      ))}
      <Handlers surface={model.type} channels={model.channels} />
    </File>
  )
}
