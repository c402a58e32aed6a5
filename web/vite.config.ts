// Builds dist/: index.html and a few files with hashed names, all addresses relative, so that the
// daemon can serve it at / and a reverse proxy under any path.
import { defineConfig } from 'vite';

const daemon = process.env.GPUADVISED ?? 'http://127.0.0.1:6828';
const toDaemon = { target: daemon, changeOrigin: true, headers: { origin: daemon } }; // it refuses questions of other pages

export default defineConfig({
  base: './',
  build: {
    target: 'es2021',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  esbuild: { legalComments: 'none' },
  server: { proxy: { '/v1': toDaemon, '/healthz': toDaemon } },
});
