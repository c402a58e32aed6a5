'use strict';

// The label of each GPU type has the wait for the number of GPUs that is chosen. The waits came with the form
// (gpuadvise.rb, data-gpuadvise-wait-N): nothing is asked again.
(function () {
  const prefix = 'batch_connect_session_context_';

  function showWaits() {
    const types = document.getElementById(prefix + 'gpu_type');
    const count = document.getElementById(prefix + 'num_gpus');
    if (!types || !count) return;
    for (const option of types.options) {
      const name = option.getAttribute('data-gpuadvise-name');
      const wait = option.getAttribute('data-gpuadvise-wait-' + count.value);
      if (!name || !wait) continue;
      option.textContent = name + ' – ' + wait;
      option.disabled = wait === 'cannot run';
    }
  }

  document.addEventListener('DOMContentLoaded', function () {
    const count = document.getElementById(prefix + 'num_gpus');
    if (count) count.addEventListener('change', showWaits);
    showWaits();
  });
  if (document.readyState !== 'loading') showWaits();
})();
