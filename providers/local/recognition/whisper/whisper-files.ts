/** `parley models add whisper-base` builds these files. Each build gives files with the same checksums. */

export const whisperFiles = {
  id: 'whisper-base',
  files: {
    'encoder.onnx': {
      bytes: 29_076_452,
      sha256: 'bf9bf02db7d99302e53b8873629932fd8523d322f0cd1b778a847e7ac983965b',
    },
    'decoder.onnx': {
      bytes: 50_070_944,
      sha256: '8e22d8a0553febbf25eb9e40e64742a8c820ac8c79b0a191aa7d0c81085ca14e',
    },
    'vocabulary.txt': {
      bytes: 459_861,
      sha256: '34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913',
    },
  },
} as const
