/** Declares the functions that are used here, since the package has no types. Addresses and sizes are in bytes. */
declare module '@echogarden/svoxpico-wasm' {
  export type PicoModule = {
    readonly HEAPU8: Uint8Array
    readonly HEAPU16: Uint16Array
    readonly HEAPU32: Uint32Array
    readonly HEAP16: Int16Array
    readonly FS: { writeFile(name: string, bytes: Uint8Array): void; unlink(name: string): void }
    _malloc(bytes: number): number
    _free(address: number): void
    _pico_initialize(memory: number, bytes: number, systemOut: number): number
    _pico_loadResource(system: number, file: number, resourceOut: number): number
    _pico_getResourceName(system: number, resource: number, nameOut: number): number
    _pico_createVoiceDefinition(system: number, voice: number): number
    _pico_addResourceToVoiceDefinition(system: number, voice: number, resource: number): number
    _pico_newEngine(system: number, voice: number, engineOut: number): number
    _pico_disposeEngine(system: number, engineInOut: number): number
    _pico_putTextUtf8(engine: number, text: number, bytes: number, takenOut: number): number
    _pico_getData(engine: number, samplesOut: number, bytesMax: number, bytesOut: number, typeOut: number): number
  }
  // oxlint-disable-next-line no-restricted-exports -- the package has only a default export
  export default function open(options: { wasmBinary: Uint8Array }): Promise<PicoModule>
}
