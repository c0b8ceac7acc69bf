/** A conversation of three turns in each language of the embedded voices, which the scripted LLM can answer. */
export type Dialogue = {
  language: string
  greeting: string
  prompt: string
  /** The caller's words and the agent's answers. */
  turns: readonly (readonly [said: string, answer: string])[]
}

export const dialogues: readonly Dialogue[] = [
  {
    language: 'en',
    greeting: 'Hotel at the harbour, good morning.',
    prompt:
      'Q: When is breakfast served?\nA: Breakfast is from seven to ten.\nQ: Do you allow dogs?\nA: Dogs are welcome.',
    turns: [
      ['Could you please tell me when breakfast is served?', 'Breakfast is from seven to ten.'],
      ['Do you allow dogs in the rooms?', 'Dogs are welcome.'],
      ['Thank you very much for your help.', 'You are welcome.'],
    ],
  },
  {
    language: 'de',
    greeting: 'Hotel am Hafen, guten Morgen.',
    prompt:
      'Frage: Wann gibt es Frühstück?\nAntwort: Frühstück gibt es von sieben bis zehn.\nFrage: Sind Hunde erlaubt?\nAntwort: Hunde sind willkommen.',
    turns: [
      ['Guten Tag, wann gibt es bei Ihnen Frühstück?', 'Frühstück gibt es von sieben bis zehn.'],
      // The recognizer mistakes "zwei Hunden" in a recording too, so caller-sentences.ts has the question with it.
      ['Sind in den Zimmern Hunde erlaubt?', 'Hunde sind willkommen.'],
      ['Vielen Dank für Ihre freundliche Hilfe.', 'Gern geschehen.'],
    ],
  },
  {
    language: 'es',
    greeting: 'Hotel del Puerto, buenos días.',
    prompt:
      'Pregunta: ¿A qué hora es el desayuno?\nRespuesta: El desayuno es de siete a diez.\nPregunta: ¿Se admiten perros?\nRespuesta: Los perros son bienvenidos.',
    turns: [
      ['Buenos días, ¿a qué hora es el desayuno?', 'El desayuno es de siete a diez.'],
      ['¿Se admiten perros en las habitaciones?', 'Los perros son bienvenidos.'],
      ['Muchas gracias por su ayuda.', 'De nada.'],
    ],
  },
  {
    language: 'fr',
    greeting: 'Hôtel du Port, bonjour.',
    prompt:
      'Question : À quelle heure est le petit déjeuner ?\nRéponse : Le petit déjeuner est servi de sept à dix heures.\nQuestion : Les chiens sont-ils acceptés ?\nRéponse : Les chiens sont les bienvenus.',
    turns: [
      ['À quelle heure commence le petit déjeuner ?', 'Le petit déjeuner est servi de sept à dix heures.'],
      ['Est-ce que les chiens sont acceptés dans les chambres ?', 'Les chiens sont les bienvenus.'],
      ['Merci beaucoup pour votre aide.', 'Je vous en prie.'],
    ],
  },
  {
    language: 'it',
    greeting: 'Hotel del Porto, buongiorno.',
    prompt:
      'Domanda: A che ora è la colazione?\nRisposta: La colazione è dalle sette alle dieci.\nDomanda: I cani sono ammessi?\nRisposta: I cani sono benvenuti.',
    turns: [
      ['Quando servite la colazione al mattino?', 'La colazione è dalle sette alle dieci.'],
      ['Posso portare il mio cane in albergo?', 'I cani sono benvenuti.'],
      ['Grazie mille per le informazioni.', 'Prego.'],
    ],
  },
]
