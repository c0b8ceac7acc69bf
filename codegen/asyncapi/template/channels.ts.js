/** channels.ts: the table that the engine dispatches by, and the types that hold a handler to its channel. */
import { File } from '@asyncapi/generator-react-sdk'
import { Banner, Imports } from '../parts/head.js'
import { frameComponents, pascal, readChannel } from '../parts/model.js'
import { Handlers, Session } from '../parts/sessions.js'
import { Surface } from '../parts/surface.js'

export default function ({ asyncapi, params }) {
  const channels = asyncapi
    .channels()
    .all()
    .map((channel) => readChannel(asyncapi, channel))
  return (
    <File name="channels.ts">
      <Banner specFile={params.specFile} />
      <Imports runtimePath={params.runtimePath} components={frameComponents(channels)} />
      <Surface name={params.name} channels={channels} />
      {channels.map((channel) => (
        <Session channel={channel} />
      ))}
      <Handlers surface={pascal(params.name)} channels={channels} />
    </File>
  )
}
