/** One document of channels in, its files out; what generate.ts is for OpenAPI. */
import { emitChannels } from './emit-channels.ts'
import { emitContract } from './emit-contract.ts'
import { emitCloseCodes, emitFrameTypes, emitFrameValidators } from './emit-frames.ts'
import { emitSocketClient, emitSocketEngine } from './emit-socket-client.ts'
import type { Files, Generated, Source } from './generate.ts'
import type { AsyncApiDocument } from './ir.ts'
import { loadAsyncApi } from './load-asyncapi.ts'
import { checkChannels } from './rules-asyncapi.ts'

export type ChannelLayout = { folder: string; clientFolder: string; runtimePath: string }

export async function generateChannels(source: Source, layout: ChannelLayout): Promise<Generated> {
  const { document, problems } = await loadAsyncApi(source.text, source.file, source.path)
  const found = document === null ? problems : checkChannels(document)
  if (document === null || found.length > 0) return { files: new Map(), problems: found }
  try {
    return { files: await emitAll(document, layout), problems: [] }
  } catch (error) {
    const { message } = error as Error
    return { files: new Map(), problems: [{ rule: 'generator', file: document.file, pointer: '#/', message }] }
  }
}

async function emitAll(document: AsyncApiDocument, layout: ChannelLayout): Promise<Files> {
  const { folder, clientFolder, runtimePath } = layout
  return new Map([
    [`${folder}/channels.ts`, await emitChannels(document, runtimePath)],
    [`${folder}/types.ts`, await emitFrameTypes(document, 'server')],
    [`${folder}/validators.ts`, emitFrameValidators(document, runtimePath)],
    [`${folder}/errors.ts`, emitCloseCodes(document)],
    [`${folder}/contract.ts`, emitContract(document)],
    [`${clientFolder}/socket.ts`, emitSocketEngine()],
    [`${clientFolder}/${document.name}-types.ts`, await emitFrameTypes(document, 'client')],
    [`${clientFolder}/${document.name}.ts`, emitSocketClient(document)],
  ])
}
