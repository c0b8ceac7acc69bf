/** generated/<name>/types.ts by openapi-typescript, with the bytes and headers that it does not know of put right. */
import openapiTS, { astToString, type OpenAPI3, type OpenAPITSOptions } from 'openapi-typescript'
import ts from 'typescript'
import type { OpenApiDocument, Schema, SchemaObject } from './ir.ts'
import { banner } from './print.ts'
import { children } from './schema.ts'

/**
 * `server`: what has a default is there after validation. `client`: it may be left out. Everything else is the same, so that the
 * client needs nothing but its own folder.
 */
export type TypesView = 'server' | 'client'

export async function emitTypes(document: OpenApiDocument, view: TypesView): Promise<string> {
  const text = await schemaTypes(document.source as unknown as OpenAPI3, {
    defaultNonNullable: view === 'server',
    readWriteMarkers: hasDirections(document),
  })
  return `${banner('emit-types', document.file)}/* eslint-disable */\n${text}`
}

/** Whether readOnly or writeOnly is said anywhere: then types are projected with Readable and Writable. */
export function hasDirections(document: OpenApiDocument): boolean {
  const isMarked = (schema: Schema): boolean =>
    typeof schema === 'object' &&
    (schema.readOnly === true || schema.writeOnly === true || children(schema).some((child) => isMarked(child.schema)))
  return Object.values(document.schemas).some(isMarked)
}

export async function schemaTypes(source: OpenAPI3, options: OpenAPITSOptions): Promise<string> {
  // It writes into the document that it is given.
  const nodes = await openapiTS(structuredClone(source), {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    rootTypesKeepCasing: true,
    silent: true,
    ...options,
    transform: (schema) =>
      isBytes(schema as SchemaObject) ? ts.factory.createTypeReferenceNode('Uint8Array') : undefined,
  })
  return withoutHeaderIndex(astToString(nodes))
}

function isBytes(schema: SchemaObject): boolean {
  return schema.format === 'binary' || (schema.contentMediaType !== undefined && schema.contentEncoding === undefined)
}

/** openapi-typescript lets every header map hold anything, which would let a misspelt header through. */
function withoutHeaderIndex(text: string): string {
  return text.replaceAll(/^ *\[name: string\]: unknown;\n/gm, '')
}
