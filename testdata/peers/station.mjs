// What every TypeScript peer serves: the same tools, with one kind of answer each.

const none = { type: 'object', additionalProperties: false };
const takes = (name, type) => ({ type: 'object', properties: { [name]: { type } }, required: [name] });
const tool = (name, description, inputSchema, more = {}) => ({ name, description, inputSchema, ...more });

const tools = [
  tool('greet', 'Greets a visitor by name.', takes('name', 'string'), { title: 'Say hello' }),
  tool('forecast', 'The forecast for a town.', takes('town', 'string'), {
    outputSchema: { type: 'object', properties: { town: { type: 'string' }, celsius: { type: 'number' } }, required: ['town'] },
  }),
  tool('radar', 'The latest radar picture.', none, { annotations: { readOnlyHint: true, destructiveHint: false } }),
  tool('chime', 'The sound of the storm warning.', none),
  tool('manual', 'Where the manual is, and its first page.', none),
  tool('sky_hologram', 'Content of a kind that clients do not know.', none),
  tool('take_readings', 'Reads sensors one by one and reports progress.', takes('steps', 'integer')),
  tool('read_sensor', 'Reads one sensor. Number 7 is broken, and there are none below zero.', takes('sensor', 'integer')),
  tool('wait', 'Answers after a while.', takes('ms', 'integer')),
];

const pageSize = 4;

// list returns one page of tools/list.
export function list(cursor) {
  const from = Number(cursor ?? 0);
  const next = from + pageSize;
  const page = { tools: tools.slice(from, next) };
  return next < tools.length ? { ...page, nextCursor: String(next) } : page;
}

const text = s => ({ content: [{ type: 'text', text: s }] });

// call answers a tools/call. The peer brings the Error of its SDK, how progress is sent, and the request's AbortSignal.
export async function call({ name, arguments: args }, { error, progress, signal }) {
  switch (name) {
    case 'greet':
      return text(`Hello, ${args.name}! \u2028 Line and paragraph \u2029 separators stay.`);
    case 'forecast':
      return { ...text('Clear.'), structuredContent: { town: args.town, celsius: 14.5, sky: { clear: true } } };
    case 'radar':
      return { content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] };
    case 'chime':
      return { content: [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', annotations: { audience: ['user'] } }] };
    case 'manual':
      return {
        content: [
          { type: 'resource_link', uri: 'station://manual/1', name: 'manual' },
          { type: 'resource', resource: { uri: 'station://manual/1', mimeType: 'text/plain', text: 'Page 1' } },
        ],
      };
    case 'sky_hologram':
      return { content: [{ type: 'hologram', frames: [1, 200], depth: 1e21 }, { type: 'text', text: 'The sky.' }] };
    case 'take_readings':
      for (let i = 1; i <= args.steps; i++) await progress({ progress: i, total: args.steps, message: `sensor ${i}` });
      return text(`Read ${args.steps} sensors.`);
    case 'read_sensor':
      if (args.sensor < 0) throw error('no such sensor: ask the harbour master');
      return args.sensor === 7 ? { ...text('Sensor 7 does not answer.'), isError: true } : text('14.5 degrees.');
    case 'wait':
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, args.ms);
        signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); });
      });
      return text(`Waited ${args.ms} ms.`);
  }
  throw error('no such tool');
}

export const info = { name: 'station', version: '1.0.0' };
export const options = { capabilities: { tools: {} } };
