/** Declares the types, because onnxruntime-node 1.16.3 does not include the type file named in its package.json. */
declare module 'onnxruntime-node' {
  export * from 'onnxruntime-common'
}
